"""Matching by aligning: the bursts of each thread in all runs, in order."""
