"""The processes of a run and what they defined: clocks, communicators, call paths."""
