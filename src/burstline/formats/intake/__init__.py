"""What every reader does with what it reads: calls, messages and collectives put together."""
