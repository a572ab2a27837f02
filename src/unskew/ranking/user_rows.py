"""`UserRows`: a model of all users, from which those of some users are taken."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints, Matrix
from unskew.data.vocabulary import Vocabulary, vocabulary_of
from unskew.errors import ConfigError
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.scorers import FactorScorer, Scorer


class UserRows:
    """A scorer whose rows are looked up by user id; the ids are sorted once.

    Parameters
    ----------
    scorer : Scorer
        With `user_ids` and `item_ids`.
    name : str
        Name of the model, for messages.
    """

    def __init__(self, scorer: Scorer, name: str) -> None:
        for ids in ("user_ids", "item_ids"):
            if getattr(scorer, ids, None) is None:
                raise ConfigError(
                    f"model {name!r} has no {ids}, and a part of the data does not show which row is whose; give them"
                )
        self.scorer = scorer
        self.vocabulary, codes = vocabulary_of(scorer.user_ids, f"user_ids of model {name!r}")  # type: ignore[attr-defined]
        self.row_of_code = np.empty(len(codes), dtype=np.int64)
        self.row_of_code[codes] = np.arange(len(codes))

    def of(self, users: Vocabulary) -> Scorer:
        """The scorer of those of these users whom the model knows."""
        codes = users.codes_in(self.vocabulary)
        known = codes >= 0
        return take_users(self.scorer, self.row_of_code[codes[known]], users.ids[known])


def take_users(scorer: Scorer, rows: Ints, ids: npt.NDArray[Any]) -> Scorer:
    """The scorer of some rows, whose users have these ids."""
    if isinstance(scorer, FactorScorer):
        bias = None if scorer.user_bias is None else scorer.user_bias[rows]
        return FactorScorer(
            scorer.user_factors[rows],
            scorer.item_factors,
            bias,
            scorer.item_bias,
            scorer.similarity,
            user_ids=ids,
            item_ids=scorer.item_ids,
            name=scorer.name,
            ratings=scorer.ratings,
            origin=scorer.origin,
        )
    if isinstance(scorer, ListScorer):
        offsets, columns, scores = scorer.lists_of(rows)
        return replace(scorer, offsets=offsets, columns=columns, scores=scores, user_ids=ids)
    return SomeUsers(scorer, rows, ids)


@dataclass(frozen=True, eq=False)
class SomeUsers:
    """Some rows of a scorer, as a scorer."""

    scorer: Scorer
    rows: Ints
    user_ids: npt.NDArray[Any]

    @property
    def item_ids(self) -> Any:
        """Ids of its columns."""
        return getattr(self.scorer, "item_ids", None)

    @property
    def ratings(self) -> bool:
        """Whether scores are predicted ratings."""
        return bool(getattr(self.scorer, "ratings", False))

    def score(self, users: Ints, /) -> Matrix:
        """Scores of these of the rows."""
        return self.scorer.score(self.rows[users])
