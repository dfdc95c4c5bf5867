"""Experiments: what the documentation says of published results, as scripts that print it."""
