from burstline.report import cluster_plot as cluster_plot
from burstline.report import factor_plot as factor_plot
from burstline.report import learn_plot as learn_plot
from burstline.report import merge_plot as merge_plot
from burstline.report import quality_plot as quality_plot
