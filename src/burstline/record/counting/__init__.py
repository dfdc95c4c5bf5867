"""Counters of a run: sets of them, and those that the machine has."""
