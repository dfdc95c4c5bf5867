"""Logical clocks on small programs of our own, held against what was published of them."""
