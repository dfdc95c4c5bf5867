"""A run under the recorder: which MPI it uses, how its ranks start, and what came of it."""
