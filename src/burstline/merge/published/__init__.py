"""The published matching: patterns first, then the most similar between two collectives."""
