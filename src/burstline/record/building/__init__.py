"""The recorder for an MPI, built from C: the table of calls becomes wrappers."""
