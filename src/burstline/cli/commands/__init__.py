"""The commands, a module each; what one takes, says and does is in it alone."""
