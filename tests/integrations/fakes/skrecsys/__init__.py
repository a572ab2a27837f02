"""The part of skrecsys 0.9.0 that the recipe uses, with its attributes, arguments and shapes."""
