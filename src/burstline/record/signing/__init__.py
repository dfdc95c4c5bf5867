"""Runs that are counted and cut: what they are to do, what they left, and what went wrong."""
