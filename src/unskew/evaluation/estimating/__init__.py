"""Stage 3: from judged rows to numbers, and how far they depend on what is assumed."""
