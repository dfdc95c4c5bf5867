"""The published method: unique calls, clustered by how often and how long they run."""
