"""Figures of burstline's speed and memory, each a ratio to a named baseline where it can be.

``python -m benchmarks --quick`` runs them all on small inputs, which are generated.
"""
