"""Writing OTF2: the tables of a trace become the definitions and events of an archive."""
