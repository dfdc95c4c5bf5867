"""Changed Paraver traces: parts cut out, counters added."""
