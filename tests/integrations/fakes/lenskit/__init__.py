"""The part of LensKit 2025.8.1 that the recipe uses, with its attributes, arguments and shapes."""
