from burstline.columns import NO_VALUE as NO_VALUE
from burstline.columns import UNKNOWN as UNKNOWN
from burstline.model.schema.tables import TABLES as TABLES

__all__ = ["NO_VALUE", "TABLES", "UNKNOWN"]

# For other rooms of the house.
from burstline.model.schema.arrow import Window as Window
from burstline.model.schema.arrow import arrow_field as arrow_field
from burstline.model.schema.arrow import arrow_schema as arrow_schema
from burstline.model.schema.arrow import arrow_table as arrow_table
from burstline.model.schema.arrow import check as check
from burstline.model.schema.arrow import count_near as count_near
from burstline.model.schema.arrow import event_table as event_table
from burstline.model.schema.arrow import metadata_table as metadata_table
from burstline.model.schema.arrow import place_columns as place_columns
from burstline.model.schema.arrow import row_table as row_table
from burstline.model.schema.arrow import text_array as text_array
from burstline.model.schema.checks import first_wrong as first_wrong
from burstline.model.schema.checks import first_wrong_of as first_wrong_of
from burstline.model.schema.checks import require_sound as require_sound
from burstline.model.schema.references import Wrong as Wrong
from burstline.model.schema.tables import BESIDE_COUNTERS as BESIDE_COUNTERS
from burstline.model.schema.tables import CHOSEN_RANKS as CHOSEN_RANKS
from burstline.model.schema.tables import COUNTER_MODES as COUNTER_MODES
from burstline.model.schema.tables import GAP_KINDS as GAP_KINDS
from burstline.model.schema.tables import HALF_KINDS as HALF_KINDS
from burstline.model.schema.tables import LARGEST_ID as LARGEST_ID
from burstline.model.schema.tables import LAST_SEQ as LAST_SEQ
from burstline.model.schema.tables import NEVER_LEFT as NEVER_LEFT
from burstline.model.schema.tables import ORIGINS as ORIGINS
from burstline.model.schema.tables import OTHER_EVENT_KINDS as OTHER_EVENT_KINDS
from burstline.model.schema.tables import PARADIGMS as PARADIGMS
from burstline.model.schema.tables import PARTS as PARTS
from burstline.model.schema.tables import RAW_TABLES as RAW_TABLES
from burstline.model.schema.tables import SCHEMA_VERSION as SCHEMA_VERSION
from burstline.model.schema.tables import SEND_DONE_SOURCES as SEND_DONE_SOURCES
from burstline.model.schema.tables import SEVERITIES as SEVERITIES
from burstline.model.schema.tables import SILENT_THREADS as SILENT_THREADS
from burstline.model.schema.tables import UNREAD_PYTHON as UNREAD_PYTHON
from burstline.model.schema.tables import VALUE_TYPES as VALUE_TYPES
from burstline.model.schema.tables import Column as Column
from burstline.model.schema.tables import TableSchema as TableSchema
