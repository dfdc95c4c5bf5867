"""Extrae's vocabulary: what event types, values, states and labels of its traces mean."""
