"""How anything looks: names, numbers, phrases, tables, charts, pages; it knows no result."""
