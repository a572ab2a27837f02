"""Made worlds of ratings."""
