"""Mutations of bytes, texts and JSON that several families use."""

import json
import random
from collections.abc import Sequence
from typing import Any

NUMBERS = (
    *("0", "1", "-1", "2", "5", "10", "0.5", "-0.0", "1e-300", "1e-7", "1e38", "3.5e38", "1e308", "1e309", "-1e308"),
    *("2147483647", "2147483648", "-2147483649", "4294967296", "9007199254740993", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775809", "18446744073709551616", "9" * 40, "9" * 400, "9" * 5000),
    *("nan", "NaN", "inf", "-inf", "Infinity", "null", "None", "NA", "NaT", "true", "1_000", "0x10", "1e", "+5", "007"),
    *("\u0661\u0662", "\u00bd", "\uff11", "1,5", "1e400", "-1e400", "1e-400", "0e0", ".5", "5.", "--5"),
)
TEXTS = (
    *("", " ", "\t", "a", "b", "x y", "tea", "\u00e9t\u00e9", "\u65e5\u672c", "\U0001f600", "e\u0301", "\u202eabc"),
    *(
        "\x1b[31m",
        "\x00",
        "\x07",
        "\x7f",
        "\x1f",
        "\ufeff",
        "\u2028",
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "'",
        '"',
        "a" * 300,
    ),
    *("../../etc/passwd", "/dev/null", "-", "--help", "C:\\x", "%s", "{0}", "${x}", "__class__", "[red]x[/red]"),
)


def pick(rng: random.Random, values: Sequence[Any]) -> Any:
    """One of the values."""
    return values[rng.randrange(len(values))]


def change_bytes(rng: random.Random, content: bytes, times: int | None = None) -> bytes:
    """Bytes flipped, removed, doubled, cut off or put in."""
    data = bytearray(content)
    for _ in range(times or pick(rng, (1, 1, 2, 4, 16))):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            del data[place:]
        elif kind == 1:
            del data[place : place + rng.randrange(1, 9)]
        elif kind == 2:
            data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
        elif kind == 3:
            data[place:place] = data[place : place + rng.randrange(1, 65)]
        elif kind == 4 and place < len(data):
            data[place] = pick(rng, b"\x00\xff\x7f\x80\r\n\t\",;'\x1b\xef")
        elif place < len(data):
            data[place] ^= 1 << rng.randrange(8)
    return bytes(data)


def change_text(rng: random.Random, text: str, tokens: Sequence[str]) -> str:
    """Characters removed, doubled or replaced by tokens."""
    for _ in range(pick(rng, (1, 1, 1, 2, 3))):
        place = rng.randrange(len(text) + 1)
        end = min(len(text), place + pick(rng, (0, 1, 1, 2, 5)))
        kind = rng.randrange(4)
        put = pick(rng, tokens) if kind < 2 else "" if kind == 2 else text[place:end] * 2
        text = text[:place] + put + text[end:]
    return text


def odd_value(rng: random.Random) -> Any:
    """A value of JSON that is mostly out of place."""
    return pick(
        rng,
        (
            *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400, 0.5, -1.5, 1e308, 1e-320),
            *(float("nan"), float("inf"), "", "x", "\x1b[31m", [], [0], [[]], {}, {"a": 1}, [None], "9" * 100),
        ),
    )


def change_json(rng: random.Random, data: Any, times: int | None = None) -> Any:
    """A copy of the data in which values, keys or elements are changed."""
    whole = json.loads(json.dumps(data))
    for _ in range(times or pick(rng, (1, 1, 1, 2, 3))):
        places = list(_places(whole, []))
        if not places:
            return odd_value(rng)
        holder, key = pick(rng, places)
        kind = rng.randrange(8)
        value = holder[key]
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[pick(rng, ("x", "", str(key) + "s", "\x1b[31m"))] = holder.pop(key)
        elif kind == 2 and isinstance(holder, list):
            holder.append(value)
        elif kind == 3 and isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
            holder[key] = pick(rng, (0, -value, value + 1, value * 10, value * 1e300, float(value), str(value)))
        elif kind == 4 and isinstance(value, str):
            holder[key] = change_text(rng, value, (*NUMBERS[:20], *TEXTS))
        elif kind == 5:
            holder[key] = [value]
        else:
            holder[key] = odd_value(rng)
    return whole


def _places(data: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place in the data, as what holds it and its key there."""
    keys = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        found.append((data, key))
        _places(data[key], found)
    return found
