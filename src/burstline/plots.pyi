from burstline.report.cluster_plot import cluster_plot as cluster_plot
from burstline.report.factor_plot import factor_plot as factor_plot
from burstline.report.learn_plot import learn_plot as learn_plot
from burstline.report.merge_plot import merge_plot as merge_plot
from burstline.report.quality_plot import quality_plot as quality_plot
