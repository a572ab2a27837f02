"""Simulated worlds of ratings."""
