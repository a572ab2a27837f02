"""Makes ``tests`` importable, so that every test finds ``oracles``."""
