"""Engines, which map a function over blocks of users."""

from unskew.ranking.engines.threads import Engine, Threads, usable_cores

__all__ = ["Engine", "Threads", "usable_cores"]
