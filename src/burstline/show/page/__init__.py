"""A report as one page: sections are values of results, the frame needs nothing else."""
