"""What your recommender's offline metrics would be if the log were not skewed, and how sure that is."""

__version__ = "0.1.0"
