"""How a contract refuses: one sentence with the name of the piece and the property that fails."""

from typing import Any, NoReturn

import numpy as np

from unskew.notation import Named


def require(condition: Any, piece: object, sentence: str) -> None:
    """Raise AssertionError with the piece and the sentence unless the condition is true."""
    if not condition:
        fail(piece, sentence)


def fail(piece: object, sentence: str) -> NoReturn:
    """Raise AssertionError with the piece and the sentence."""
    name = str(piece) if isinstance(piece, Named) else getattr(piece, "name", "") or type(piece).__name__
    raise AssertionError(f"{name}: {sentence}")


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
    except TypeError:
        fail(piece, "it cannot be hashed; make it a frozen dataclass whose fields are its options")
    if piece.word:
        require(type(piece).from_word(str(piece)) == piece, piece, "reading its printed word gives another piece")
