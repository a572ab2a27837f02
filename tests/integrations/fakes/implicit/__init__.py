"""The part of implicit 0.7.3 that the recipe uses, with its attributes, arguments and shapes."""
