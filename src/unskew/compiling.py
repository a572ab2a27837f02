"""Compiled loops: when they are worth loading, what is kept of them, and a report while they are compiled.

Numba takes half a second to load, and some seconds to compile loops that are not in its cache yet. A short run is done
before that with NumPy, which gives the same numbers.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import Lock
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from unskew.progress import Stage

COMPILING = "compiling, once"
"""The stage that compilations are reported as."""
_P = ParamSpec("_P")
_T = TypeVar("_T")
_Loop = TypeVar("_Loop", bound=Callable[..., Any])
_numpy_steps_left = 1 << 24  # comparisons or additions, which take NumPy about 0.05 s


def is_short(steps: int) -> bool:
    """Whether NumPy should do a piece of work of this many steps, because compiled loops would take longer to load.

    Never once they are loaded, or when the pieces of this process add up.
    """
    global _numpy_steps_left  # noqa: PLW0603
    if "numba" in sys.modules or steps > _numpy_steps_left:
        return False
    _numpy_steps_left -= steps
    return True


def njit(**options: Any) -> Callable[[_Loop], _Loop]:
    """As `numba.njit`, but a cache that is damaged or cannot be written costs time and is not an error."""

    def compile_later(function: _Loop) -> _Loop:
        from numba import njit as plain

        loop: Any = plain(**{**options, "cache": False})(function)
        if options.get("cache") and hasattr(loop, "enable_caching"):  # a plain function has no cache
            with suppress(RuntimeError, OSError):  # no folder can be written to
                loop._cache = _lenient_cache()(function)  # noqa: SLF001  # as `enable_caching` does
        compiled: _Loop = loop
        return compiled

    return compile_later


@cache
def _lenient_cache() -> type:
    from numba.core import caching, sigutils

    base: Any = caching.FunctionCache  # numba has few types
    types_of: Any = sigutils.normalize_signature

    class LenientCache(base):  # type: ignore[misc]
        """Numba's cache on disk. What cannot be read counts as absent, and is replaced where it can be written."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """The compiled loop for these types; None if there is none."""
            try:
                loaded: Any = super().load_overload(sig, target_context)
            except Exception:  # noqa: BLE001  # whatever a file that was cut short raises
                return None
            # two processes that begin with an empty cache may write loops for different types under one name
            fits = loaded is not None and tuple(loaded.signature.args) == tuple(types_of(sig)[0])
            return loaded if fits else None

        def save_overload(self, sig: Any, data: Any) -> None:
            """Keep a compiled loop for the next process, if possible."""
            try:
                super().save_overload(sig, data)
            except Exception:  # noqa: BLE001  # the index may be damaged
                with suppress(Exception):  # the disk may be full
                    self.flush()
                    super().save_overload(sig, data)

    return LenientCache


@contextmanager
def announced(progress: Stage | None) -> Iterator[None]:
    """Report compilations inside to a callback, as ``progress("compiling, once", done, total)``.

    Loops that are in the cache are loaded without a report. How many are to be compiled is not known beforehand, so the
    total grows. Inside another such context, only the inner callback is called.
    """
    if progress is None:
        yield
        return
    _Watch.start()
    callbacks.append(progress)
    try:
        yield
    finally:
        callbacks.remove(progress)


def announces(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a function with a keyword argument ``progress`` report compilations to it."""

    @wraps(work)
    def announcing(*args: _P.args, **options: _P.kwargs) -> _T:
        progress: Any = options.get("progress")
        with announced(progress):
            return work(*args, **options)

    return announcing


callbacks: list[Stage] = []
"""Who is called; the last one only."""


class _Watch(MetaPathFinder, Loader):
    """Listens to numba's compiler. Numba is not loaded for that: if it is not there yet, its import is waited for."""

    started = False

    @classmethod
    def start(cls) -> None:
        """Listen from now on; only the first call does something."""
        if cls.started:
            return
        cls.started = True
        if "numba" in sys.modules:
            _listen()
        else:
            sys.meta_path.insert(0, cls())

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of numba, with this object as the loader."""
        if fullname != "numba":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            self.loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the usual loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Load numba as usual, then listen to its compiler."""
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        _listen()


def _listen() -> None:
    from numba.core import event

    class Compilations(event.Listener):
        """Counts compilations, also those of loops that a loop calls."""

        def __init__(self) -> None:
            self.done = self.total = 0
            self.lock = Lock()

        def on_start(self, event: Any) -> None:
            """One more to do."""
            self.report(0, 1)

        def on_end(self, event: Any) -> None:
            """One more done."""
            self.report(1, 0)

        def report(self, done: int, total: int) -> None:
            with self.lock:
                self.done, self.total = self.done + done, self.total + total
                if callbacks:
                    callbacks[-1](COMPILING, self.done, self.total)

    register: Callable[[str, Any], None] = event.register
    register("numba:compile", Compilations())
