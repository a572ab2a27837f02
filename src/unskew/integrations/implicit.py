"""Models of implicit: factors, and item-item similarities."""

from typing import Any

from unskew.integrations.family import WITH_IDS, Family, Given, to_array
from unskew.ranking import FactorScorer, ItemItemScorer


def read_factors_of(given: Given) -> FactorScorer:
    """Dot products of the factors, which also hold the biases of `bpr` and `lmf`; those of a GPU are copied."""
    users, items = (to_array(getattr(given.model, f"{axis}_factors")) for axis in ("user", "item"))
    return FactorScorer(users, items, **given.labels)


def read_similarities(given: Given) -> ItemItemScorer:
    """The history of each user times the similarities.

    The history is the training rows, each with weight 1, unless another was given.
    """
    weights: Any = given.model.similarity
    history = given.history
    if history is None:
        history = _training_history(given, weights.shape[0])
    if history.shape[1] != weights.shape[0]:
        raise given.refuse(
            f"has similarities of {weights.shape[0]} items, but its history has {history.shape[1]}; give "
            "the matrix that it was fitted on with unskew.integrations.with_ids(model, history=...)"
        )
    return ItemItemScorer(history.tocsr(), weights, **given.labels)


def _training_history(given: Given, n_items: int) -> Any:
    """The training rows, users and items in the order of the model's ids."""
    split = given.split
    if split is None:
        raise given.refuse(
            "scores from each user's history; give it with unskew.integrations.with_ids(model, history=...)"
        )
    train = split.train
    places = []
    for axis in ("user", "item"):
        ids = given.ids_of(axis)
        if axis == "item" and len(ids) != n_items:
            raise given.refuse(
                f"has similarities of {n_items} items, but train and test have {len(ids)} distinct items; {WITH_IDS}"
            )
        places.append(_codes(ids, getattr(train, f"{axis}_vocabulary"), f"{axis}_ids of model {given.name!r}"))
    rows, columns = places
    # an id that train does not have gets an empty row
    from scipy import sparse

    matrix = sparse.csr_array(train.to_sparse())
    padded = sparse.csr_array(sparse.block_diag((matrix, sparse.csr_array((1, 1), dtype=matrix.dtype)), format="csr"))
    return padded[rows][:, columns]


def _codes(ids: Any, vocabulary: Any, what: str) -> Any:
    from unskew.data.vocabulary import canonical

    return vocabulary.encode(canonical(ids, what))  # -1, the last row of the padded matrix, if there is none


FACTORS = Family(
    "implicit",
    "a fitted model with user_factors and item_factors",
    ("user_factors", "item_factors"),
    read_factors_of,
    ("implicit",),
)
ITEM_ITEM = Family(
    "implicit, item-item",
    "a fitted model with a similarity matrix of items, as ItemItemRecommender",
    ("similarity", "recommend", "similar_items"),
    read_similarities,
    ("implicit",),
    lambda model: hasattr(model.similarity, "shape"),
)
