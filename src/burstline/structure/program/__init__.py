"""A program as both methods find it: its nodes, when each was executed, and its fidelity."""
