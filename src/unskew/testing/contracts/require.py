"""How a contract refuses: one sentence with the name of the piece, the property that fails and what to do."""

import inspect
import itertools
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TypeVar

import numpy as np

from unskew.errors import ConfigError
from unskew.notation import Named

_N = TypeVar("_N", bound=Named)
_TESTING = Path(__file__).resolve().parent.parent


def require(condition: Any, piece: object, sentence: str) -> None:
    """Raise AssertionError with the piece and the sentence unless the condition is true."""
    if not condition:
        fail(piece, sentence)


def fail(piece: object, sentence: str, cause: BaseException | None = None) -> NoReturn:
    """Raise AssertionError with the piece and the sentence, and the error that led to it as its cause."""
    raise AssertionError(f"{_name(piece)}: {sentence}") from cause


def _name(piece: object) -> str:
    try:
        name = str(piece) if isinstance(piece, Named | str) else getattr(piece, "name", "")
    except Exception:  # noqa: BLE001 - str() may be what is broken
        name = ""
    return name if is_line(name) else type(piece).__name__


def refuse_class(piece: object) -> None:
    """Raise AssertionError if this is a class and not one of its instances."""
    if isinstance(piece, type):
        name = piece.__name__
        raise AssertionError(f"{name} is a class; give an instance, {name}()")  # noqa: TRY004 - what a check raises


def piece_of(family: type[_N], piece: _N | str) -> _N:
    """Return the piece, or the piece of a word; refuse a class, an unknown word and a piece of another family."""
    refuse_class(piece)
    if isinstance(piece, str):
        try:
            return family.from_word(piece)
        except ConfigError as error:
            fail(piece, f"the word cannot be read: {_first_line(error)}", error)
    require(isinstance(piece, family), piece, f"it is not an instance of {family.__name__}; subclass {family.__name__}")
    return piece


def require_method(piece: object, name: str, *arguments: str, options: tuple[str, ...] = ()) -> None:
    """Require that the piece defines a method that takes these arguments by place and these options by name."""
    form = f"{name}({', '.join([*arguments, *(f'{option}=...' for option in options)])})"
    method: Any = getattr(piece, name, None)
    defined = callable(method) and not getattr(method, "__isabstractmethod__", False)
    require(defined, piece, f"it has no method {form}; define it")
    require_arguments(piece, method, f"{name}()", form, *arguments, options=options)


def require_arguments(
    piece: object, function: Any, what: str, form: str, *arguments: str, options: tuple[str, ...] = ()
) -> None:
    """Require that a function of the piece takes these arguments by place and these options by name."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some functions in C have none
        return
    try:
        signature.bind(*arguments, **dict.fromkeys(options))
    except TypeError as error:
        fail(piece, f"{what} does not take its arguments ({error}); define it as {form}", error)


@contextmanager
def errors_as_sentences(piece: object) -> Iterator[None]:
    """Turn every error inside into an AssertionError with one sentence, and keep the error as its cause."""
    try:
        yield
    except Exception as error:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        if frames[-1].f_code in {fail.__code__, refuse_class.__code__}:
            raise  # a sentence of the contract itself
        fail(piece, _describe(piece, error, frames), error)


def _describe(piece: object, error: Exception, frames: list[FrameType]) -> str:
    """The method of the piece that raised an error; without one, the contract could not use a result."""
    what = f"{type(error).__name__} ({_first_line(error)})"
    beyond = list(itertools.takewhile(lambda frame: not _is_testing(frame), reversed(frames)))
    called = [frame for frame in beyond[-1:] if "self" in frame.f_locals]
    methods = [frame for frame in beyond if frame.f_locals.get("self") is piece] or called
    if methods:
        return f"{methods[0].f_code.co_name}() raises {what} on valid input; the traceback of the cause has the line"
    return f"an attribute or a result cannot be used: {what}; give what the docstring of the base class says"


def _is_testing(frame: FrameType) -> bool:
    return _TESTING in Path(frame.f_code.co_filename).parents


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "without a message")


def require_array(piece: object, result: object, what: str) -> None:
    """Require that a result is a numpy array of real numbers."""
    given = f"of type {result.dtype}" if isinstance(result, np.ndarray) else type(result).__name__
    numbers = isinstance(result, np.ndarray) and result.dtype.kind in "fiub"
    require(numbers, piece, f"{what} must be a numpy array of numbers, not {given}; return np.asarray(..., float)")


def near(one: Any, other: Any, rtol: float = 1e-9) -> bool:
    """Return whether two results agree but for rounding; NaN equals NaN."""
    return bool(np.allclose(one, other, rtol=rtol, atol=1e-12, equal_nan=True))


def same_bytes(one: Any, other: Any) -> bool:
    """Return whether two arrays have the same type, shape and bytes."""
    first, second = np.asarray(one), np.asarray(other)
    return (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes())


def is_line(text: object) -> bool:
    """Return whether this is one line of text that is not empty."""
    return isinstance(text, str) and bool(text.strip()) and "\n" not in text


def check_word(piece: Named) -> None:
    """Require that a named piece can be compared and printed, and that its word gives it back if it has one."""
    require(is_line(str(piece)), piece, "str() must give one line, which names the piece in tables")
    try:
        hash(piece)
    except TypeError as error:
        fail(piece, "it cannot be hashed; make it a frozen dataclass whose fields are its options", error)
    if piece.word:
        try:
            again = type(piece).from_word(str(piece))
        except ConfigError as error:
            fail(piece, f"its printed word cannot be read ({_first_line(error)}); let its fields be its options", error)
        require(again == piece, piece, "reading its printed word gives another piece; let its fields be its options")
