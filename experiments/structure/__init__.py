"""Experiments with the structure of programs."""
