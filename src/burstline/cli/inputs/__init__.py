"""What commands take: options that they share, and how traces are read by them."""
