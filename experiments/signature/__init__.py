"""How well a short run predicts a long one, on small programs of ours."""
