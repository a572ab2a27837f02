"""Formats of table files: text with any separator, Parquet and TREC."""
