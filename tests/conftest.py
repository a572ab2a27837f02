"""Makes ``tests`` importable, so that every test finds ``oracles``, and settles Hypothesis for all."""

from hypothesis import settings

# The first example of a test may compile; a deadline would measure that.
settings.register_profile("unskew", deadline=None)
settings.load_profile("unskew")
