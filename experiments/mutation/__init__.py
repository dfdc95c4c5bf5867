"""How many small breaks the tests of each room notice."""
