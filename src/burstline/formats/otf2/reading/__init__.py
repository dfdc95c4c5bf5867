"""Reading OTF2: an archive's definitions and events become the tables of a trace."""
