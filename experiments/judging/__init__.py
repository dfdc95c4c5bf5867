"""Experiments with what a run may be judged by."""
