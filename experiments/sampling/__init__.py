"""Whether programs run with samples of their call stacks as they do without."""
