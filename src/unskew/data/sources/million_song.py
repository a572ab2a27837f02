"""The Million Song Dataset Challenge: how often 1.1 million listeners played 380,000 songs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from unskew.arrays import Ints
from unskew.data.interactions import Interactions
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate, read_columns, read_lines
from unskew.data.vocabulary import Vocabulary, canonical, factorise
from unskew.errors import DataError

_TRAIN, _VISIBLE = "train_triplets.txt", "kaggle_visible_evaluation_triplets.txt"
_COLUMNS = {"user": pl.String, "item": pl.String, "plays": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read the triplets listener, song and play count, separated by tabs; the values are the play counts.

    ``train_triplets.txt`` has 48 million lines in 3 GB. It is read in blocks whose ids are encoded at once, so that the
    text is never in memory as a whole: 21 million generated lines took 2.8 GB and 38 s of one core, so expect 6 GB and
    two minutes for all. Without it, the smaller ``kaggle_visible_evaluation_triplets.txt`` is read: half of the songs
    of 110,000 other listeners.
    """
    path = find(folder, _TRAIN) or find(folder, _VISIBLE) or locate(folder, _TRAIN, "msd-challenge")
    return read_triplets(path, "msd-challenge")


def read_triplets(path: Path, name: str) -> Interactions:
    """Read a file of triplets in blocks.

    Parameters
    ----------
    path : Path
    name : str
        Of the data set, for messages.
    """
    users, items = _Codes(), _Codes()
    plays = []
    for frame in _frames(path):
        users.add(frame["user"], f"users of {path}")
        items.add(frame["item"], f"songs of {path}")
        plays.append(frame["plays"].to_numpy())
    if not plays:
        raise DataError(f"{path}: the file is empty; expected lines of listener, song and play count")
    user_codes, user_vocabulary = users.joined()
    item_codes, item_vocabulary = items.joined()
    return Interactions(
        user_codes, item_codes, user_vocabulary, item_vocabulary, values=np.concatenate(plays), name=name
    ).distinct()


def _frames(path: Path) -> Iterator[pl.DataFrame]:
    for first, lines in read_lines(path):
        yield read_columns(b"".join(lines), path, _COLUMNS, separator="\t", first=first)


class _Codes:
    """Codes of ids that come in blocks; each block has its own vocabulary until all are joined."""

    def __init__(self) -> None:
        self._blocks: list[tuple[Ints, Vocabulary]] = []

    def add(self, ids: pl.Series, what: str) -> None:
        self._blocks.append(factorise(canonical(ids, what)))

    def joined(self) -> tuple[Ints, Vocabulary]:
        """The codes of all blocks in one vocabulary."""
        texts = pl.concat([pl.Series(vocabulary.ids.astype(str)) for _, vocabulary in self._blocks])
        vocabulary = factorise(canonical(texts.unique(), "ids"))[1]
        codes = [vocabulary_of_block.codes_in(vocabulary)[block] for block, vocabulary_of_block in self._blocks]
        return np.concatenate(codes).astype(np.int32), vocabulary


MILLION_SONG = Source(
    name="msd-challenge",
    title="Million Song Dataset Challenge, the Taste Profile of the Echo Nest",
    licence="Offered for research; no licence comes with the files, so read the owner's terms",
    citation=(
        "B. McFee, T. Bertin-Mahieux, D. P. W. Ellis and G. R. G. Lanckriet (2012). The Million Song Dataset "
        "Challenge. WWW Companion"
    ),
    home="https://www.kaggle.com/c/msdchallenge",
    forms=(
        Form({_TRAIN: None}),
        Form({_VISIBLE: None}, whole=False, note="the visible half of the 110,000 listeners of the evaluation"),
    ),
    reader=read,
    how_to_get=(
        "Get train_triplets.txt.zip from the page of the challenge at millionsongdataset.com, unpack it and put "
        "train_triplets.txt (3 GB, or gzipped) into the folder; when it is not there, "
        "kaggle_visible_evaluation_triplets.txt from the official home is read"
    ),
)
