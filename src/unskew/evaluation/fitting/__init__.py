"""Stage 1: propensities and models, fitted."""
