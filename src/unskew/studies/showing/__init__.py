"""How a study looks: on the terminal and on its page."""
