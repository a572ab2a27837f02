"""How wrong an evaluation on a log can be, found out in simulated worlds that resemble it."""
