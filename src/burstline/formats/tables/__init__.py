"""A trace as a folder of plain tables: one CSV or Parquet file each, for other programs.

::

    Trace  ->  run.csv/calls.csv, run.csv/messages.csv, …  ->  the same Trace

A null is an empty field in CSV, an empty text is ``""``, a list of ranks is ``0 1 2``.
Operations and other names are written as text. Parquet keeps types, units and meanings;
CSV gets its types back from the schema.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
