"""Coat Shopping: 290 people rated 24 coats they chose and 16 drawn for them at random, out of 300."""

from pathlib import Path

import numpy as np
import polars as pl

from unskew.arrays import Floats
from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate, read_matrix
from unskew.data.split import Split
from unskew.errors import DataError

_PROPENSITIES = "propensities.ascii"
_FEATURES = "user_item_features"


def read(folder: Path) -> Interactions:
    """Read ``train.ascii``, the ratings of self-selected items.

    If ``propensities.ascii`` is there, the rows have the published propensities of being in train. Ids are the numbers
    of row and column, from 0.
    """
    path = locate(folder, "train.ascii", "coat")
    ratings = read_matrix(path)
    published = find(folder, _PROPENSITIES)
    propensities = None if published is None else read_matrix(published)
    if propensities is not None and propensities.shape != ratings.shape:
        raise DataError(f"{published}: shape {propensities.shape}, but the ratings of {path} have {ratings.shape}")
    return _interactions(ratings, propensities, "coat train")


def read_split(folder: Path) -> Split:
    """Read both parts; the test is a uniform sample of all items.

    It was drawn from all items, including those in train, so all items are candidates; without the pairs that are in
    both it would not be a random sample. The propensities are those of being in train, not in the test.
    """
    train = read(folder)
    path = locate(folder, "test.ascii", "coat")
    ratings = read_matrix(path)
    if ratings.shape != (train.n_users, train.n_items):
        raise DataError(f"{path}: shape {ratings.shape}, but train has {(train.n_users, train.n_items)}")
    return Split(train=train, test=_interactions(ratings, None, "coat test"), candidates="all", origin="as published")


def read_user_features(folder: Path) -> pl.DataFrame:
    """Read the features of the users: a column ``user``, and a column of zeros and ones per feature."""
    return _features(folder, "user")


def read_item_features(folder: Path) -> pl.DataFrame:
    """Read the features of the coats: a column ``item``, and a column of zeros and ones per feature."""
    return _features(folder, "item")


def _features(folder: Path, side: str) -> pl.DataFrame:
    path = locate(folder, f"{_FEATURES}/{side}_features.ascii", "coat")
    matrix = read_matrix(path)
    listed = locate(folder, f"{_FEATURES}/{side}_features_map.txt", "coat")
    names = [line.strip() for line in read_content(listed).decode().splitlines() if line.strip()]
    if len(names) != matrix.shape[1] or len(set(names)) != len(names):
        raise DataError(f"{listed}: {len(set(names))} distinct names for the {matrix.shape[1]} columns of {path}")
    columns = {name: matrix[:, place].astype(np.int64) for place, name in enumerate(names)}
    return pl.DataFrame({side: np.arange(len(matrix)), **columns})


def _interactions(ratings: Floats, propensities: Floats | None, name: str) -> Interactions:
    users, items = np.nonzero(ratings)
    return Interactions.from_arrays(
        users,
        items,
        ratings[users, items],
        propensity=None if propensities is None else propensities[users, items],
        n_users=ratings.shape[0],
        n_items=ratings.shape[1],
        name=name,
    )


COAT = Source(
    name="coat",
    title="Coat Shopping Dataset",
    licence="No licence is stated, so no right to redistribute",
    citation=(
        "T. Schnabel, A. Swaminathan, A. Singh, N. Chandak and T. Joachims (2016). "
        "Recommendations as Treatments: Debiasing Learning and Evaluation. ICML"
    ),
    home="https://www.cs.cornell.edu/~schnabts/mnar/",
    forms=(
        Form(
            {
                "train.ascii": "f9088c6e95fa9a42e8be6a92fc77252b95b969e34ed1299c611420da68680873",
                "test.ascii": "51fa28550f5bedebc6959d0e7b5e242b173c3c8d16317c7e49b89441304504ce",
            }
        ),
    ),
    reader=read,
    split_reader=read_split,
    extras={
        _PROPENSITIES: "a72e3142a413623c4a6b9d20c4f70fcc017e0db67cc3eb242116f69fb8fb9661",
        "README.txt": None,
        f"{_FEATURES}/item_features.ascii": ("72b08cc0766d3e9899231aea90c815b5bb08e07dcfba569d5f182da649099f5a"),
        f"{_FEATURES}/item_features_map.txt": ("2675dfaa38b89a9cbb1997f0cfcd46ed7e0e366dc515d12d95508d1f356e5d25"),
        f"{_FEATURES}/user_features.ascii": ("593b59c63a3f983575d3a770b32158fdfa4e2e4f63aafffdee70d1600ff072f8"),
        f"{_FEATURES}/user_features_map.txt": ("3b8c825ad4445d4a46a400629c5fb43c805ff5a7982b2e436b69e7262c8a013a"),
    },
    download="https://www.cs.cornell.edu/~schnabts/mnar/coat.zip",
    how_to_get="Download coat.zip from the official home and put its files into the folder",
)
