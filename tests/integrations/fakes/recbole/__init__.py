"""The part of RecBole 1.2.1 that the recipe uses, with its attributes, arguments and shapes."""
