"""How an audit looks: text, page, charts."""
