from burstline.timeline.kinds import KINDS as KINDS
from burstline.timeline.pieces import timeline as timeline
from burstline.timeline.result import Timeline as Timeline

__all__ = ["KINDS", "Timeline", "timeline"]

# For other rooms of the house.
from burstline.timeline.flame import Flame as Flame
from burstline.timeline.flame import flame_of as flame_of
from burstline.timeline.kinds import KIND_OF_WAIT as KIND_OF_WAIT
from burstline.timeline.kinds import Kind as Kind
from burstline.timeline.lines import WAITING as WAITING
from burstline.timeline.lines import LineTimes as LineTimes
from burstline.timeline.lines import line_times as line_times
from burstline.timeline.pieces import timeline_of as timeline_of
from burstline.timeline.pyramid import summed_columns as summed_columns
from burstline.timeline.sums import times_by_rank as times_by_rank
from burstline.timeline.sums import times_by_site as times_by_site
from burstline.timeline.sums import times_within as times_within
