"""Stage 5: a report as text and as a page."""
