"""`with_ids`: a model together with what it does not hold itself: ids of its rows, its data set, names of columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Identified:
    """A model and what was given with it; see `with_ids`."""

    model: Any
    user_ids: Any = None
    item_ids: Any = None
    history: Any = None
    dataset: Any = None
    columns: Mapping[str, str] | None = None


def with_ids(
    model: Any,
    *,
    user_ids: Any = None,
    item_ids: Any = None,
    history: Any = None,
    dataset: Any = None,
    columns: Mapping[str, str] | None = None,
) -> Identified:
    """Name the rows and columns of a model that knows only their numbers, or the columns of a frame.

    Without ids, row k belongs to the k-th distinct id of train and test together, in numeric order if all ids are
    integers, else by code point.

    Parameters
    ----------
    model : object
        Any model that `evaluate` recognises.
    user_ids, item_ids : array, optional
        The id of each row and column, in the model's order. Lists and frames then hold numbers of rows, from 0.
    history : sparse, optional
        For item-item models of implicit: the users by items matrix that they score from, by default the training rows
        with weight 1.
    dataset : object, optional
        The data set of the model's own package; the same as the pair ``(model, dataset)``.
    columns : mapping, optional
        For frames: the columns of ``user``, ``item`` and ``score``, ``rank`` or ``prediction``, as in
        ``{"user": "foo", "item": "bar", "score": "baz"}``. What is not named is found by its name.

    Returns
    -------
    Identified
        A value for the mapping of models of `evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import Interactions, Split, evaluate
    >>> from unskew.integrations import with_ids
    >>> train = Interactions.from_arrays(["ann", "bob"], ["tea", "jam"])
    >>> test = Interactions.from_arrays(["ann", "bob"], ["jam", "tea"])
    >>> scores = np.array([[0.1, 0.9], [0.8, 0.2]])
    >>> model = with_ids(scores, user_ids=["bob", "ann"], item_ids=["jam", "tea"])
    >>> report = evaluate({"mine": model}, Split(train, test), metrics=["recall@1"], estimators=["aoa"])
    >>> report.value("mine", "recall@1", "aoa")
    1.0
    """
    if isinstance(model, Identified):
        columns = model.columns if columns is None else columns
        model, dataset = model.model, model.dataset if dataset is None else dataset
    return Identified(model, user_ids, item_ids, history, dataset, columns)
