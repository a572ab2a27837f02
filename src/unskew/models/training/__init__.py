"""Iterative training: batches, runs, checkpoints and compiled loops."""
