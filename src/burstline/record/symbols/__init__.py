"""Names of what is on call stacks: functions, files and lines, out of debug information."""
