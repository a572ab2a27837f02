"""`user_keys`: a key of each user's id, which decides the part of the user."""

import hashlib

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.data.vocabulary import integers_or_null

Keys = npt.NDArray[np.uint64]


def mix(numbers: Keys) -> Keys:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection of 64-bit integers."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def user_keys(ids: pl.Series) -> Keys:
    """A 64-bit key of each canonical id. It depends on the id alone, and is the same for ``7`` and ``"7"``.

    Examples
    --------
    >>> int(user_keys(pl.Series([7]))[0]) == int(user_keys(pl.Series(["7"]))[0])
    True
    """
    if ids.dtype == pl.Int64:
        return mix(ids.to_numpy().view(np.uint64))
    distinct = ids.unique()
    integers = integers_or_null(distinct)
    keys = mix(integers.fill_null(0).to_numpy().view(np.uint64))
    for place in np.flatnonzero(integers.is_null().to_numpy()):
        digest = hashlib.blake2b(distinct[int(place)].encode(), digest_size=8).digest()
        keys[place] = int.from_bytes(digest, "little")
    table = pl.DataFrame({"id": distinct, "key": keys})
    return pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["key"].to_numpy()
