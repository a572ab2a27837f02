"""Formatting that all results share: names, numbers, phrases, tables, charts, pages."""
