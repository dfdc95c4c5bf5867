from burstline.columns import NO_VALUE as NO_VALUE
from burstline.columns import UNKNOWN as UNKNOWN
from burstline.model.profile import Profile as Profile
from burstline.model.profile import Values as Values
from burstline.model.schema.tables import TABLES as TABLES
from burstline.model.trace import Trace as Trace

__all__ = [
    "NO_VALUE",
    "TABLES",
    "UNKNOWN",
    "Profile",
    "Trace",
    "Values",
]

# For other rooms of the house.
from burstline.model.bursts import POLL_COLUMNS as POLL_COLUMNS
from burstline.model.bursts import POLL_GAP_NS as POLL_GAP_NS
from burstline.model.bursts import between_regions as between_regions
from burstline.model.bursts import burst_table as burst_table
from burstline.model.bursts import bursts_of as bursts_of
from burstline.model.bursts import bursts_of_states as bursts_of_states
from burstline.model.bursts import inside_calls as inside_calls
from burstline.model.bursts import read_at_starts as read_at_starts
from burstline.model.bursts import sorted_by_location as sorted_by_location
from burstline.model.bursts import waiting_in as waiting_in
from burstline.model.loops import DETECTED as DETECTED
from burstline.model.loops import LOOP_TYPES as LOOP_TYPES
from burstline.model.loops import RECORDED as RECORDED
from burstline.model.loops import LoopEvents as LoopEvents
from burstline.model.loops import Loops as Loops
from burstline.model.loops import entries_above as entries_above
from burstline.model.loops import innermost_entry as innermost_entry
from burstline.model.loops import iterations_of as iterations_of
from burstline.model.loops import last_until as last_until
from burstline.model.loops import most_iterations as most_iterations
from burstline.model.loops import recorded_loops as recorded_loops
from burstline.model.loops import with_detected as with_detected
from burstline.model.matching import collective_instances as collective_instances
from burstline.model.matching import init_finalize as init_finalize
from burstline.model.matching import match_messages as match_messages
from burstline.model.operations import BLOCKING_SENDS as BLOCKING_SENDS
from burstline.model.operations import CODES as CODES
from burstline.model.operations import COLLECTIVES as COLLECTIVES
from burstline.model.operations import COMPLETIONS as COMPLETIONS
from burstline.model.operations import COUNTED as COUNTED
from burstline.model.operations import FINALIZES as FINALIZES
from burstline.model.operations import IMMEDIATE_SENDS as IMMEDIATE_SENDS
from burstline.model.operations import INITS as INITS
from burstline.model.operations import IO as IO
from burstline.model.operations import NAMES as NAMES
from burstline.model.operations import NON_BLOCKING_COLLECTIVES as NON_BLOCKING_COLLECTIVES
from burstline.model.operations import RMA as RMA
from burstline.model.operations import SESSION_ENDS as SESSION_ENDS
from burstline.model.operations import TOGETHER as TOGETHER
from burstline.model.operations import role_of as role_of
from burstline.model.overlay import StoredOverlay as StoredOverlay
from burstline.model.overlay import overlaid as overlaid
from burstline.model.profile import CALL_PATHS as CALL_PATHS
from burstline.model.profile import COMBINERS as COMBINERS
from burstline.model.profile import LOCATIONS as LOCATIONS
from burstline.model.profile import METRICS as METRICS
from burstline.model.schema.arrow import arrow_field as arrow_field
from burstline.model.schema.arrow import arrow_schema as arrow_schema
from burstline.model.schema.arrow import arrow_table as arrow_table
from burstline.model.schema.arrow import event_table as event_table
from burstline.model.schema.arrow import row_table as row_table
from burstline.model.schema.arrow import text_array as text_array
from burstline.model.schema.references import Wrong as Wrong
from burstline.model.schema.tables import BESIDE_COUNTERS as BESIDE_COUNTERS
from burstline.model.schema.tables import GAP_KINDS as GAP_KINDS
from burstline.model.schema.tables import HALF_KINDS as HALF_KINDS
from burstline.model.schema.tables import LAST_SEQ as LAST_SEQ
from burstline.model.schema.tables import NEVER_LEFT as NEVER_LEFT
from burstline.model.schema.tables import ORIGINS as ORIGINS
from burstline.model.schema.tables import OTHER_EVENT_KINDS as OTHER_EVENT_KINDS
from burstline.model.schema.tables import RAW_TABLES as RAW_TABLES
from burstline.model.schema.tables import SEND_DONE_SOURCES as SEND_DONE_SOURCES
from burstline.model.schema.tables import SEVERITIES as SEVERITIES
from burstline.model.schema.tables import SILENT_THREADS as SILENT_THREADS
from burstline.model.schema.tables import VALUE_TYPES as VALUE_TYPES
from burstline.model.schema.tables import Column as Column
from burstline.model.schema.tables import TableSchema as TableSchema
