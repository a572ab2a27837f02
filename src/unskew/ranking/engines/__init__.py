"""Engines, which map a function over blocks of users."""

from unskew.errors import ConfigError, Option, did_you_mean
from unskew.ranking.engines.threads import Engine, Threads, usable_cores

ENGINES = ("threads", "ray")

__all__ = ["ENGINES", "Engine", "Threads", "engine_of", "usable_cores"]


def engine_of(engine: Engine | str | None, threads: int | None = None, address: str | None = None) -> Engine:
    """The engine of a word, ``threads`` or ``ray``; an engine itself is returned.

    Parameters
    ----------
    engine : Engine or str, optional
        ``threads`` by default.
    threads : int, optional
        Number of threads.
    address : str, optional
        Of a Ray cluster, as in ``auto``; by default one is started on this machine.
    """
    if engine is not None and not isinstance(engine, str):
        if not callable(getattr(engine, "map", None)):
            raise ConfigError(f"an engine has a method map(task, blocks), and {type(engine).__name__} has none")
        return engine
    if engine == "ray":
        from unskew.ranking.engines.ray import Ray

        return Ray(address)
    if address is not None:
        raise ConfigError(f"{Option('ray_address', address)} needs {Option('engine', 'ray')}")
    if engine not in {None, "threads"}:
        raise ConfigError(f"unknown engine {engine!r}{did_you_mean(str(engine), ENGINES)}")
    return Threads(threads)
