"""Wang et al. 2024: recall over all candidates from randomly exposed data."""
