"""Scores and ranks of factor models of 32 bits, whose bits depend on nothing but the factors."""

from unskew.ranking.factors.packed_factors import PackedFactors

__all__ = ["PackedFactors"]
