"""How anything looks: names, phrases, tables, pages; it knows no result."""
