"""A small log with ratings, times and propensities, as frames, as data sets in parts, and with models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew import Interactions, Split
from unskew.data import PartitionedSplit, open_split, write_parts
from unskew.ranking import CallableScorer, FactorScorer

PARTS = 5


def make_frames(users: int = 120, items: int = 40, seed: int = 0, *, text: bool = False) -> dict[str, pl.DataFrame]:
    """Train and test of the same users, items by popularity; with `text`, ids are words."""
    rng = np.random.default_rng(seed)
    chances = np.arange(1, items + 1) ** -1.0
    rows: dict[str, list[tuple[Any, ...]]] = {"train": [], "test": []}
    for user in range(users):
        n = int(rng.integers(3, 12))
        for place, item in enumerate(rng.choice(items, n, replace=False, p=chances / chances.sum())):
            numbers = float(rng.integers(1, 6)), float(rng.integers(0, 10**6)), float(rng.uniform(0.05, 1))
            rows["test" if place < 0.4 * n else "train"].append((7 * user + 3, 3 * int(item), *numbers))
    columns = ["user", "item", "rating", "timestamp", "propensity"]
    frames = {name: pl.DataFrame(each, schema=columns, orient="row") for name, each in rows.items()}
    frames["train"] = frames["train"].drop("propensity")
    if text:
        frames = {
            name: frame.with_columns(pl.format("u{}", "user").alias("user"), pl.format("i{}", "item").alias("item"))
            for name, frame in frames.items()
        }
    return frames


def in_memory(frames: dict[str, pl.DataFrame]) -> Split:
    return Split(Interactions.from_frame(frames["train"]), Interactions.from_frame(frames["test"]))


def in_parts(frames: dict[str, pl.DataFrame], folder: Path, parts: int = PARTS) -> PartitionedSplit:
    for name, frame in frames.items():
        write_parts(halves(frame), folder / name, parts)
    return open_split(folder / "train", folder / "test")


def halves(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    yield frame[: len(frame) // 2]
    yield frame[len(frame) // 2 :]


def ids_of(frames: dict[str, pl.DataFrame]) -> tuple[Any, Any]:
    both = pl.concat([frame.select("user", "item") for frame in frames.values()])
    return (np.array(both[column].unique().sort().to_list()) for column in ("user", "item"))  # type: ignore[return-value]


def make_models(frames: dict[str, pl.DataFrame], seed: int = 1, *, ratings: bool = False) -> dict[str, Any]:
    """Factors that know everybody, factors that lack users and items, and a function; scores have few ties."""
    rng = np.random.default_rng(seed)
    users, items = ids_of(frames)
    table = rng.integers(0, 30, (len(users), len(items))).astype(float)
    return {
        "whole": _factors(rng, users, items, ratings=ratings),
        "lacking": _factors(rng, users[:-25], items[:-3], ratings=ratings),
        "callable": CallableScorer(lambda rows: table[rows], user_ids=users, item_ids=items, ratings=ratings),
    }


def _factors(rng: np.random.Generator, users: Any, items: Any, *, ratings: bool) -> FactorScorer:
    factors = rng.standard_normal((len(users), 4)), rng.standard_normal((len(items), 4))
    return FactorScorer(*factors, user_ids=users, item_ids=items, ratings=ratings)


def differences(first: Any, second: Any, path: str = "", tolerance: float = 1e-9) -> list[str]:
    """Where two JSON-like values differ, numbers by more than the tolerance."""
    if isinstance(first, dict) and isinstance(second, dict):
        keys = {**first, **second}
        lacking = [f"{path}/{key}: only in one" for key in keys if (key in first) != (key in second)]
        both = [key for key in keys if key in first and key in second]
        return lacking + [text for key in both for text in differences(first[key], second[key], f"{path}/{key}")]
    if isinstance(first, list) and isinstance(second, list):
        sizes = [] if len(first) == len(second) else [f"{path}: {len(first)} and {len(second)} entries"]
        pairs = enumerate(zip(first, second, strict=False))
        return sizes + [text for k, (a, b) in pairs for text in differences(a, b, f"{path}/{k}")]
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (first, second))
    same = abs(first - second) <= tolerance * max(1, abs(first)) if numbers else first == second
    return [] if same else [f"{path}: {first} and {second}"]
