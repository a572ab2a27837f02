"""Evaluations of data sets larger than memory: each part is reduced to sums, and the sums are merged."""
