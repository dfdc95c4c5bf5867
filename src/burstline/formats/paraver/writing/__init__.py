"""From a trace to the files of a Paraver trace."""
