"""Propensities of ratings, learnt from which pairs were observed."""
