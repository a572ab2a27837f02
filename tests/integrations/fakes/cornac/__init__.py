"""The part of Cornac 3.0.1 that the recipe uses, with its attributes, arguments and shapes."""
