"""Reading the text form: statements become rows, and rows the tables of a trace."""
