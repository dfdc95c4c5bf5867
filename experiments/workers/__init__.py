"""Workers beside a batch system."""
