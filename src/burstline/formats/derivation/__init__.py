"""Records as Extrae writes them, for traces that have none: events, states, links, labels."""
