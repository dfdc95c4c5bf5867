"""The burst table: a row per burst, and how its columns are made."""
