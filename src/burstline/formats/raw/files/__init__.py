"""The bytes of raw files: layout, records, tails, and an outline before they are read."""
