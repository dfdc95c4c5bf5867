from burstline.show.views import View as View
from burstline.show.views import view as view

__all__ = ["View", "view"]

# For other rooms of the house.
from burstline.show.code_lines import IPC as IPC
from burstline.show.code_lines import STYLES as STYLES
from burstline.show.code_lines import Line as Line
from burstline.show.code_lines import chosen_counter as chosen_counter
from burstline.show.code_lines import pseudocode as pseudocode
from burstline.show.features import FeaturesView as FeaturesView
from burstline.show.iterations import LoopTableView as LoopTableView
from burstline.show.iterations import sparkline as sparkline
from burstline.show.learn import LearnedView as LearnedView
from burstline.show.merge import MergeView as MergeView
from burstline.show.pictures.canvas import require as require
from burstline.show.pictures.characters import character_plot as character_plot
from burstline.show.pictures.clusters import cluster_plot as cluster_plot
from burstline.show.pictures.factors import factor_plot as factor_plot
from burstline.show.pictures.learning import learn_plot as learn_plot
from burstline.show.pictures.matching import merge_plot as merge_plot
from burstline.show.pictures.quality import drawn_of as drawn_of
from burstline.show.pictures.quality import quality_plot as quality_plot
from burstline.show.plain import note as note
from burstline.show.plain import print_csv as print_csv
from burstline.show.plain import print_json as print_json
from burstline.show.profile import ProfileView as ProfileView
from burstline.show.progress import Bar as Bar
from burstline.show.quality import CheckView as CheckView
from burstline.show.quality import doubts as doubts
from burstline.show.structure import StructureView as StructureView
from burstline.show.summary import SummaryView as SummaryView
from burstline.show.summary import calls_table as calls_table
from burstline.show.table import OverviewView as OverviewView
from burstline.show.table_files import print_parts as print_parts
from burstline.show.table_files import read_table as read_table
from burstline.show.table_files import write_parts as write_parts
from burstline.show.terminal import console as console
from burstline.show.terminal import print_blocks as print_blocks
from burstline.show.units import format_bytes as format_bytes
from burstline.show.units import format_count as format_count
from burstline.show.units import format_ns as format_ns
from burstline.show.units import format_share as format_share
from burstline.show.units import plural as plural
from burstline.show.views import Figure as Figure
from burstline.show.views import output as output
from burstline.show.wording import name_text as name_text
