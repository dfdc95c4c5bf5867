"""How results and progress look; what they are is decided elsewhere."""
