"""The engine that runs blocks as tasks of a Ray cluster."""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from unskew.errors import ConfigError, UnskewError
from unskew.ranking.engines.threads import single_threaded_blas, usable_cores

Block = TypeVar("Block")
Result = TypeVar("Result")

TASKS_PER_CORE = 8
"""Blocks are joined to about this many tasks per core, because a task costs about a millisecond by itself."""
WINDOW_PER_CORE = 4
"""Tasks that are submitted and not yet merged, so that few results wait in memory."""
PATIENCE = 10.0
"""Seconds to wait for an address to answer."""
_SETTINGS = 4  # the type of an HTTP/2 frame
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, _SETTINGS, 0, 0, 0, 0, 0])
_RETRIES = 5  # of a task whose worker or node died
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


@dataclass(frozen=True, eq=False)
class Ray:
    """Tasks of a Ray cluster, each with single-threaded BLAS; the results are those of `Threads`.

    What a task needs, such as a model and its contest, is put into the object store once. A task whose worker or node
    dies runs again, and changes nothing.

    Parameters
    ----------
    address : str, optional
        Of a running cluster, as in ``auto`` or ``host:6379``. By default the cluster that this process is connected to,
        or else a new one on this machine, which ends with the process.
    """

    address: str | None = None
    kernels: set[str] = field(default_factory=set, init=False)
    """Kernels of the matrix product on the nodes that were used; with more than one, last bits may differ."""
    _stored: dict[int, tuple[Any, Any]] = field(default_factory=dict, init=False, repr=False)

    def map(self, task: Callable[[Block], Result], blocks: Sequence[Block], /) -> Iterator[Result]:
        """Apply the task to each block, results in order."""
        if not len(blocks):
            return
        ray = connect(self.address)
        cores = max(int(ray.cluster_resources().get("CPU", 1)), 1)
        size = -(-len(blocks) // (cores * TASKS_PER_CORE))
        parts = iter([blocks[start : start + size] for start in range(0, len(blocks), size)])
        stored, run = self._store(ray, task), _remote()
        window: deque[Any] = deque()
        try:
            while True:
                while len(window) < cores * WINDOW_PER_CORE and (part := next(parts, None)) is not None:
                    window.append(run.remote(stored, list(part)))
                if not window:
                    return
                results, kernel = _get(ray, window.popleft())
                self.kernels.add(kernel)
                yield from results
        finally:
            for waiting in window:
                ray.cancel(waiting)

    def _store(self, ray: Any, task: Callable[[Any], Any]) -> "_Stored":
        """Put what a task needs into the object store; the attributes of its object one by one, each once."""
        owner = getattr(task, "__self__", None)
        if owner is None or not hasattr(owner, "__dict__"):
            return _Stored(None, "", {"": self._put(ray, task, "the task")})
        attributes = {name: self._put(ray, value, name) for name, value in vars(owner).items()}
        return _Stored(type(owner), task.__name__, attributes)

    def _put(self, ray: Any, value: Any, name: str) -> Any:
        known = self._stored.get(id(value))
        if known is None or known[0] is not value:
            try:
                known = self._stored[id(value)] = value, ray.put(value)
            except Exception as error:  # noqa: BLE001  # whatever its __getstate__ raises
                raise ConfigError(
                    f"{unpicklable(value, name)} cannot be sent to Ray ({_first_line(error)}); open it inside score(), "
                    "or define __getstate__ without it"
                ) from None
        return known[1]


@dataclass(frozen=True)
class _Stored:
    """A task in the object store: a method of an object, whose attributes are there, or one function."""

    owner: type | None
    method: str
    attributes: dict[str, Any]  # references

    @property
    def key(self) -> tuple[str, ...]:
        return (self.method, *(reference.hex() for reference in self.attributes.values()))

    def load(self, ray: Any) -> Callable[[Any], Any]:
        values = dict(zip(self.attributes, ray.get(list(self.attributes.values())), strict=True))
        if self.owner is None:
            function: Callable[[Any], Any] = values[""]
            return function
        copy: Any = object.__new__(self.owner)
        copy.__dict__.update(values)
        method: Callable[[Any], Any] = getattr(copy, self.method)
        return method


_LOADED: dict[tuple[str, ...], Callable[[Any], Any]] = {}  # of a worker: the task that it had last
_KERNELS: dict[tuple[str, ...], str] = {}  # of a worker: what multiplied the matrices of that task


def _work(stored: _Stored, blocks: list[Any]) -> tuple[list[Any], str]:
    """Process blocks in a worker; return the results and the kernel of the matrix product."""
    import ray

    if stored.key not in _LOADED:
        task = stored.load(ray)
        _LOADED.clear()
        _KERNELS.clear()
        _LOADED[stored.key] = task
    with single_threaded_blas():
        results = [_LOADED[stored.key](block) for block in blocks]
    if stored.key not in _KERNELS:  # asking takes milliseconds; after the first blocks all libraries are loaded
        _KERNELS[stored.key] = kernel_of_products()
    return results, _KERNELS[stored.key]


@cache
def _remote() -> Any:
    import ray

    return ray.remote(num_cpus=1, max_retries=_RETRIES)(_work)


def connect(address: str | None = None) -> Any:
    """Connect to Ray, or start it on this machine; return its module.

    Raises
    ------
    ConfigError
        If Ray is not installed, or the address does not answer within ten seconds.
    """
    try:
        import ray
    except ModuleNotFoundError:
        raise ConfigError("engine ray: Ray is not installed; pip install 'unskew[ray]'") from None
    if ray.is_initialized():
        return ray
    options: dict[str, Any] = {
        "runtime_env": {"env_vars": _ONE_THREAD},
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    if address is None:
        system = {"worker_niceness": 0}  # these workers do what threads of this process would do
        ray.init(num_cpus=usable_cores(), include_dashboard=False, _system_config=system, **options)
        return ray
    _require_answer(address)
    try:
        ray.init(address=address, **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _silent(address, _first_line(error)) from None
    return ray


def _require_answer(address: str) -> None:
    """Greet the port of an address, because Ray itself tries for minutes.

    A cluster speaks HTTP/2, whose servers answer a greeting with their settings.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # auto, or a name that Ray resolves
    try:
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as door:
            if os.environ.get("RAY_USE_TLS", "0") in {"0", ""}:  # else it waits for a certificate
                door.sendall(_GREETING)
                answer = door.recv(9)
                if len(answer) < 4 or answer[3] != _SETTINGS:
                    raise _silent(address, "something else is there")
    except (OSError, OverflowError) as error:
        raise _silent(address, _first_line(error)) from None


def _silent(address: str, why: str) -> ConfigError:
    return ConfigError(f"no Ray cluster answers at {address!r} ({why}); start one there, or leave out the address")


def _get(ray: Any, reference: Any) -> Any:
    """The result of a task; its error as it was raised there."""
    failures = ray.exceptions
    try:
        return ray.get(reference)
    except failures.RayTaskError as error:
        if not isinstance(error.cause, failures.RaySystemError):
            raise error.cause from None
        raise ConfigError(
            f"a worker of Ray could not load the model ({_first_line(error.cause)}); install its package on all nodes"
        ) from None
    except failures.RayError as error:
        raise UnskewError(
            f"Ray gave up a task after {_RETRIES} retries ({_first_line(error)}); does a block of users fit into the "
            "memory of a worker?"
        ) from None


def unpicklable(value: Any, name: str) -> str:
    """The path of the innermost attribute that cannot be pickled, and its type."""
    from ray import cloudpickle

    dumps: Callable[[Any], bytes] = cloudpickle.dumps
    for inner, part in getattr(value, "__dict__", {}).items():
        try:
            dumps(part)
        except Exception:  # noqa: BLE001  # whatever its __getstate__ raises
            return unpicklable(part, f"{name}.{inner}")
    return f"{name} ({type(value).__name__})"


def kernel_of_products() -> str:
    """The library that multiplies matrices here, and the processor that it is made for."""
    from threadpoolctl import threadpool_info

    parts = {
        f"{each.get('internal_api')} {each.get('architecture') or ''}".strip()
        for each in threadpool_info()
        if each.get("user_api") == "blas"
    }
    return ", ".join(sorted(parts))


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__
