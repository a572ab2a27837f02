"""Where each held-out item landed: kernel, ranks, scorers and engines."""
