"""How models learn step by step: batches, runs, checkpoints, compiled loops."""
