"""Files of factors and other .npz files: false headers, odd types and shapes, cut members, numbers out of range."""

import io
import random
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from families.family import Family, Recipe, Silent
from families.mutations import change_bytes, pick
from unskew import Interactions, Split
from unskew.ranking import FactorScorer, prepare_contest, rank, read_factors

USERS, ITEMS = 3, 5
_VALUES = (0.0, 1.0, -1.0, 0.5, 3.0, 1e-30, 1e-45, 1e5, 1e10, 1e16, 1e20, 1e38, -1e38, 3.4e38, 1e300)
_WRONG = (float("nan"), float("inf"), float("-inf"))
_TYPES = (
    "f4",
    "f4",
    "f4",
    "f8",
    "f8",
    "f2",
    "g",
    "i4",
    "i8",
    "u8",
    "b",
    "c8",
    "U3",
    "S3",
    "M8[s]",
    "O",
    "V4",
    ">f4",
    ">f8",
)
_ARRAYS = ("user_factors", "item_factors", "user_bias", "item_bias")
_HEADERS = (
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 5000 + ", 2), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 2), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1000000000000), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5, 2), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (True, 2), }",
    "{'descr': '<f4', 'fortran_order': 7, 'shape': (3, 2), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3, 2), }",
    "{'descr': '<f999', 'fortran_order': False, 'shape': (3, 2), }",
    "{'descr': '<V0', 'fortran_order': False, 'shape': (3, 2), }",
    "{'descr': '<U2147483647', 'fortran_order': False, 'shape': (3, 2), }",
    "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a', '<f4', (1000000, 1000000))], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': " + "(" * 200 + ")" * 200 + ", }",
    "{'descr': __import__('os'), 'fortran_order': False, 'shape': (3, 2), }",
    "{" * 300,
    "",
    "\x00" * 50,
)


class Factors(Family):
    name = "npz"
    share = 14

    def make(self, rng: random.Random) -> Recipe:
        width = pick(rng, (0, 1, 2, 2, 3))
        tame = rng.random() < 0.5
        arrays = {}
        for name in _ARRAYS:
            if name.endswith("bias") and rng.random() < 0.5:
                continue
            shape = [USERS if name.startswith("user") else ITEMS] + ([width] if name.endswith("factors") else [])
            if not tame and rng.random() < 0.15:
                shape = pick(rng, ([], [0], [0, width], [ITEMS], [width, ITEMS], [2, 2, 2], [USERS, width + 1], [1, 1]))
            kind = pick(rng, ("f4", "f4", "f8")) if tame else pick(rng, _TYPES)
            pool = pick(rng, (_VALUES[:5], _VALUES[:9], _VALUES)) + (_WRONG if not tame and rng.random() < 0.1 else ())
            size = int(np.prod(shape))
            arrays[name] = {"shape": shape, "type": kind, "values": [pick(rng, pool) for _ in range(size)]}
        if rng.random() < 0.1:
            arrays["similarity"] = {"shape": [], "type": "U8", "values": [pick(rng, ("dot", "distance", "cosine", ""))]}
        elif rng.random() < 0.2:
            arrays["similarity"] = {"shape": [], "type": "U8", "values": ["distance"]}
        if rng.random() < 0.15:
            kind, ids = pick(
                rng, (("i8", [3, 1, 2]), ("U2", ["a", "b", "c"]), ("U2", ["a", "a", "c"]), ("f8", [0.5, 1, 2]))
            )
            arrays["user_ids"] = {"shape": pick(rng, ([3], [3], [3, 1], [1, 3])), "type": kind, "values": ids}
        if rng.random() < 0.05:
            arrays[pick(rng, ("x", "../x", "user_factor", "\x1b[31m"))] = {"shape": [1], "type": "f4", "values": [1]}
        if rng.random() < 0.05:
            del arrays[pick(rng, list(arrays))]
        return {
            "arrays": arrays,
            "header": pick(rng, _HEADERS) if rng.random() < 0.15 else None,
            "of": rng.randrange(4),
            "change": rng.randrange(1 << 30) if rng.random() < 0.2 else None,
            "packed": rng.random() < 0.4,
        }

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        path = folder / "mf.npz"
        arrays = {name: build(spec) for name, spec in recipe["arrays"].items()}
        write_npz(path, arrays, recipe)
        scorer = read_factors(path)
        if recipe["header"] is not None or recipe["change"] is not None:
            return
        check_scores(scorer, arrays)


def build(spec: Recipe) -> Any:
    """The array that a recipe describes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if spec["type"][0] in "SUVM":
            values = np.array([str(each)[:3] for each in spec["values"]] or [], dtype="U8")
            array = np.zeros(len(values), spec["type"]) if spec["type"][0] in "VM" else values.astype(spec["type"])
        else:
            with np.errstate(all="ignore"):
                array = np.array(spec["values"], dtype="f8").astype(spec["type"])
    return array.reshape(spec["shape"])


def write_npz(path: Path, arrays: dict[str, Any], recipe: Recipe) -> None:
    """Write arrays, one perhaps with another header, and perhaps change bytes of the file."""
    kind = zipfile.ZIP_DEFLATED if recipe["packed"] else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as file:
        for place, (name, array) in enumerate(arrays.items()):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, array)
            content = stream.getvalue()
            if recipe["header"] is not None and place == recipe["of"] % len(arrays):
                header = recipe["header"].encode("latin-1")
                start = 10 + int.from_bytes(content[8:10], "little")
                content = content[:8] + len(header).to_bytes(2, "little") + header + content[start:]
            file.writestr(f"{name}.npy", content)
    if recipe["change"] is not None:
        path.write_bytes(change_bytes(random.Random(recipe["change"]), path.read_bytes()))


def check_scores(scorer: FactorScorer, arrays: dict[str, Any]) -> None:
    """Compare ranks and scores with those of products in float64, in Python's own arithmetic."""
    users, items = (np.asarray(arrays[name], dtype=float).tolist() for name in ("user_factors", "item_factors"))
    if not users or not items:
        return
    biases = [np.asarray(arrays[name], dtype=float) if name in arrays else None for name in ("user_bias", "item_bias")]
    distance = str(arrays.get("similarity", "dot")) == "distance"
    exact, sizes = [], []
    for row, user in enumerate(users):
        added = [0.0 if bias is None else float(bias[row if side == 0 else 0]) for side, bias in enumerate(biases)]
        scores, largest = [], []
        for place, item in enumerate(items):
            parts = [-((p - q) ** 2) if distance else p * q for p, q in zip(user, item, strict=True)]
            whole = [2 * p * p + 2 * q * q for p, q in zip(user, item, strict=True)] if distance else parts
            constant = 0.0 if biases[1] is None else float(biases[1][place])
            scores.append(sum(parts) + constant)
            largest.append(sum(map(abs, whole)) + abs(constant))
        exact.append([score + added[0] for score in scores])
        sizes.append([size + abs(added[0]) for size in largest])
    scored = scorer.score(np.arange(len(users)))
    limit = float(np.finfo(np.float32).max)
    for row, column in np.ndindex(len(users), len(items)):
        said, size, read = exact[row][column], sizes[row][column], float(scored[row, column])
        if size > limit / 8:
            continue  # beyond 32 bits, where a score may be infinite, and is refused when it is ranked
        if not abs(read - said) <= 2e-6 * max(size, 1e-37):
            raise Silent(f"score of user {row}, item {column} is {read}, not {said}")
    _check_ranks(scorer, exact, sizes)


def _check_ranks(scorer: FactorScorer, exact: list[list[float]], sizes: list[list[float]]) -> None:
    """Places that a difference of scores decides must be the same."""
    n_users, n_items = len(exact), len(exact[0])
    if n_items < 2 or scorer.user_ids is not None or scorer.item_ids is not None:
        return
    train = Interactions.from_arrays([0], [0], n_users=n_users, n_items=n_items)
    test = Interactions.from_arrays(range(n_users), [1] * n_users, n_users=n_users, n_items=n_items)
    contest = prepare_contest({"factors": scorer}, Split(train, test, candidates="all"))
    ranks = rank(scorer, contest)
    for user, above, tied in zip(ranks.users, ranks.above, ranks.tied, strict=True):
        scores, error = exact[user], max(4e-6 * max(sizes[user]), 1e-43)  # the smallest numbers of 32 bits are coarse
        surely = sum(score > scores[1] + error for score in scores)
        perhaps = sum(score >= scores[1] - error for place, score in enumerate(scores) if place != 1)
        if not surely <= above or not above + tied <= perhaps:
            raise Silent(f"user {user}: {above} above and {tied} tied, by the exact scores {surely} to {perhaps}")
