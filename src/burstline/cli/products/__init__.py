"""What commands write: traces, pictures, and the base of a merge with more counters."""
