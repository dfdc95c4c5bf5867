"""Frames of return addresses: resolvers of two checkouts, and what others say of the same."""
