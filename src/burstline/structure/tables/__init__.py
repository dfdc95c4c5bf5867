"""Tables of iterations: what each cost on each rank, and what stands out."""
