"""The text of the three files of a Paraver trace, line by line."""
