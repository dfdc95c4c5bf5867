"""What a trace is: its tables, their columns, types, units and order.

::

    TABLES["calls"].columns  ->  arrow_schema("calls")  ->  check("calls", table)

Importing this package costs nothing: Arrow is loaded by the functions that need it.
"""

from burstline.columns import NO_VALUE, UNKNOWN
from burstline.schema.checking import arrow_schema, check
from burstline.schema.column import (
    COMMUNICATOR_KINDS,
    COUNTER_MODES,
    GAP_KINDS,
    HALF_KINDS,
    LOCATION_KINDS,
    ORIGINS,
    OTHER_EVENT_KINDS,
    PARADIGMS,
    SEND_DONE_SOURCES,
    SEVERITIES,
    SOURCE_KINDS,
    VALUE_TYPES,
    Column,
    TableSchema,
)
from burstline.schema.tables import RAW_TABLES, SCHEMA_VERSION, TABLES

__all__ = [
    "COMMUNICATOR_KINDS",
    "COUNTER_MODES",
    "GAP_KINDS",
    "HALF_KINDS",
    "LOCATION_KINDS",
    "NO_VALUE",
    "ORIGINS",
    "OTHER_EVENT_KINDS",
    "PARADIGMS",
    "RAW_TABLES",
    "SCHEMA_VERSION",
    "SEND_DONE_SOURCES",
    "SEVERITIES",
    "SOURCE_KINDS",
    "TABLES",
    "UNKNOWN",
    "VALUE_TYPES",
    "Column",
    "TableSchema",
    "arrow_schema",
    "check",
]
