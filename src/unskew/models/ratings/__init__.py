"""Models that predict ratings."""
