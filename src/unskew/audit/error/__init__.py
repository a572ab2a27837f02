"""The error audit: how wrong an evaluation on a log can be, measured in simulated worlds that resemble it."""
