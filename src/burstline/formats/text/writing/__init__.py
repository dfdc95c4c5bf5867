"""Writing the text form: the rows of a trace's tables become statements again."""
