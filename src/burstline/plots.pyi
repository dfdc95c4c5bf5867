from burstline.show import cluster_plot as cluster_plot
from burstline.show import comparison_plot as comparison_plot
from burstline.show import factor_plot as factor_plot
from burstline.show import learn_plot as learn_plot
from burstline.show import merge_plot as merge_plot
from burstline.show import quality_plot as quality_plot
