"""Two runs next to one another."""
