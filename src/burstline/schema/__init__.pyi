from burstline.columns import NO_VALUE as NO_VALUE
from burstline.columns import UNKNOWN as UNKNOWN

from .checking import arrow_schema as arrow_schema
from .checking import check as check
from .column import COMMUNICATOR_KINDS as COMMUNICATOR_KINDS
from .column import COUNTER_MODES as COUNTER_MODES
from .column import GAP_KINDS as GAP_KINDS
from .column import HALF_KINDS as HALF_KINDS
from .column import LOCATION_KINDS as LOCATION_KINDS
from .column import ORIGINS as ORIGINS
from .column import OTHER_EVENT_KINDS as OTHER_EVENT_KINDS
from .column import PARADIGMS as PARADIGMS
from .column import SEND_DONE_SOURCES as SEND_DONE_SOURCES
from .column import SEVERITIES as SEVERITIES
from .column import SOURCE_KINDS as SOURCE_KINDS
from .column import VALUE_TYPES as VALUE_TYPES
from .column import Column as Column
from .column import TableSchema as TableSchema
from .tables import RAW_TABLES as RAW_TABLES
from .tables import SCHEMA_VERSION as SCHEMA_VERSION
from .tables import TABLES as TABLES

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
