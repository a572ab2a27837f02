"""Exact expectations that metrics share: ties, sampled candidates, missing positives."""
