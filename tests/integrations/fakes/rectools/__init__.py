"""The part of RecTools 0.19.0 that the recipe uses, with its attributes, arguments and shapes."""
