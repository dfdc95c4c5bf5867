"""Experiments with merging: how often matched bursts are the same, and what counters vary."""
