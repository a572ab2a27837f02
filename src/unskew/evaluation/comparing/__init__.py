"""Two runs: what moved between them, and how much of it the data explains."""
