"""Computation between two calls: which call it leads to, and its own loops."""
