"""Engines: they map a function over blocks of users and know nothing of ranking."""

from unskew.ranking.engines.threads import Engine, Threads, usable_cores

__all__ = ["Engine", "Threads", "usable_cores"]
