"""Counters of a run: sets of them, those of the machine, and the counted work of programs."""
