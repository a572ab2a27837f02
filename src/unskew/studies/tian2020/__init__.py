"""Tian and Ekstrand 2020, Estimating Error and Bias in Offline Evaluation Results: worlds whose truth is known."""
