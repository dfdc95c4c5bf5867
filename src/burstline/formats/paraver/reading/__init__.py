"""From the files of a Paraver trace to tables, or to a store."""
