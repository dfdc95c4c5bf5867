"""Sphinx configuration: MyST pages, numpydoc docstrings, no network."""

from __future__ import annotations

from pyarrow.types import is_dictionary

import burstline
from burstline.merge import table_schema
from burstline.model import TABLES

project = "burstline"
author = "The burstline developers"
project_copyright = "The burstline developers"
release = version = burstline.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"burstline {version}"
html_show_sourcelink = False

autodoc_typehints = "none"  # the docstrings say more: shape, unit, meaning
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
nitpick_ignore_regex = [
    # Types of other projects, named in our docstrings: there is no network to look them up.
    ("py:.*", r"(numpy|np|npt|pyarrow|pa|polars|pl|pathlib|argparse|concurrent)\..*"),
    (
        "py:class",
        r".*(Path|Sequence|Mapping|Callable|Iterator|Iterable|ndarray|Array|Table|Any).*",
    ),
    (
        "py:class",
        r"(optional|shape|int\w*|str|bool|float|dict|list|tuple|of|or|and|None|\d+|\w+)",
    ),
]


def setup(app):
    """Let the page of tables be written from the schema itself."""
    app.connect("source-read", add_tables)


def add_tables(_app, page, source):
    """Append every table of a trace to the page that lists them."""
    if page == "reference/tables":
        source[0] += "".join(describe(name, table) for name, table in TABLES.items())
        source[0] += describe_bursts()


def describe_bursts():
    """Give the columns of the burst table as Markdown."""
    rows = "".join(
        f"| `{field.name}` | {'text' if is_dictionary(field.type) else field.type} "
        f"| {field.metadata[b'unit'].decode()} | {'yes' * field.nullable} "
        f"| {field.metadata[b'doc'].decode()} |\n"
        for field in table_schema(["one column per counter"])
    )
    return (
        "\n## The burst table\n\nWhat `burstline table` writes: a row is a computation burst, "
        "with what lies around it. Sorted by `location`, `burst`. It is made from the tables "
        "above, and no part of a trace; see [Make a table of all bursts](../guides/table.md)."
        "\n\n| column | type | unit | may be null | holds |\n|---|---|---|---|---|\n" + rows
    )


def describe(name, table):
    """Give one table as Markdown."""
    raw = " A raw table: a reader may leave it out." if table.raw else ""
    order = f" Sorted by `{'`, `'.join(table.order)}`." if table.order else ""
    counters = " One nullable column per counter follows." if table.counters else ""
    rows = "".join(
        f"| `{column.name}` | {column.type} | {column.unit} | {'yes' * column.nullable} "
        f"| {column.doc}{values(column)} |\n"
        for column in table.columns
    )
    return (
        f"\n## {name}\n\nA row is {table.doc}.{order}{counters}{raw}\n\n"
        f"| column | type | unit | may be null | holds |\n|---|---|---|---|---|\n{rows}"
    )


def values(column):
    """Give the values of an enumeration, if the column is one."""
    return f": {', '.join(f'`{value}`' for value in column.values)}" if column.values else ""
