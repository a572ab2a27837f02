"""A context manager that keeps linear algebra to one thread, so that results are reproducible to the last bit."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, ClassVar

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread: the order of their sums, and so the last bit, depends on the number.

    Scipy's own copy of BLAS is loaded first. Libraries that are loaded inside begin with one thread, and get theirs at
    the end.
    """
    import scipy.linalg
    import scipy.optimize
    import scipy.sparse.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), later_libraries_limited():
        yield


@contextmanager
def later_libraries_limited() -> Iterator[None]:
    """Let libraries of linear algebra that are loaded inside begin with one thread; at the end they get theirs."""
    modules = len(sys.modules)
    _Environment.enter()
    try:
        yield
    finally:
        given = _Environment.leave()
        if given is not None and len(sys.modules) != modules:
            _free_later_libraries(given)


def _free_later_libraries(given: Mapping[str, str | None]) -> None:
    """Give libraries that began with one thread as many as they would have had."""
    from threadpoolctl import ThreadpoolController

    wanted = [int(text) for text in given.values() if text is not None and text.isdecimal() and int(text)]
    controllers: list[Any] = ThreadpoolController().lib_controllers
    for library in controllers:
        if library.filepath not in _Environment.known:
            library.set_num_threads(min([*wanted, os.cpu_count() or 1]))
            _Environment.known.add(library.filepath)


class _Environment:
    """The variables that a library reads when it is loaded; all contexts of the process share them."""

    lock = Lock()
    depth = 0
    before: ClassVar[Mapping[str, str | None]] = {}
    known: ClassVar[set[str]] = set()  # files of libraries that were loaded before a context
    known_at = -1  # the number of modules when these were looked for

    @classmethod
    def enter(cls) -> None:
        """Set all to one, unless another context has done so."""
        with cls.lock:
            cls.depth += 1
            if cls.depth == 1:
                from threadpoolctl import ThreadpoolController

                if cls.known_at != len(sys.modules):  # finding the loaded libraries takes milliseconds
                    controllers: list[Any] = ThreadpoolController().lib_controllers
                    cls.known = {library.filepath for library in controllers}
                    cls.known_at = len(sys.modules)
                cls.before = {name: os.environ.get(name) for name in _THREADS}
                os.environ.update(dict.fromkeys(_THREADS, "1"))

    @classmethod
    def leave(cls) -> Mapping[str, str | None] | None:
        """Restore them at the end of the last context, and return them; None if another context goes on."""
        with cls.lock:
            cls.depth -= 1
            if cls.depth:
                return None
            for name, text in cls.before.items():
                if text is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = text
            return cls.before
