"""Stage 2: the judged rows, ranked and predicted by every model."""
