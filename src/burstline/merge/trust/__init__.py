"""How far merged counters can be trusted: what repeats, where it varies, and a verdict."""
