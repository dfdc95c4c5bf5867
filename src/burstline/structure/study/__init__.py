"""What distinguishes the loops of a program: features of calls, and labels of the source."""
