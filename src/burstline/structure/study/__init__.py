"""What tells the loops of a program apart: features of calls, and labels of the source."""
