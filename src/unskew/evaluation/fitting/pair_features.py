"""`TrainingFeatures`: what the training log says about a pair of a user and an item, for models of exposure."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats, Ints, Matrix
from unskew.blas import one_thread
from unskew.data import Interactions
from unskew.models import Ease, ItemKnn
from unskew.ranking.scorers import ItemItemScorer

EASE_ITEMS = 5_000
"""Largest catalogue for which the scores of `ease` are a feature; its weights are dense."""
_BLOCK = 256
_KEPT = 1 << 23  # scores of a model that are kept, because several sets of pairs are asked for


@dataclass(frozen=True, eq=False)
class TrainingFeatures:
    """Count of the item, activity of the user, and scores of two models of the training log, by code.

    Parameters
    ----------
    log : Interactions
        The training rows: all of them, or the positives of a log without others.
    regularisation : float
        That of `ease`.
    """

    log: Interactions
    regularisation: float = 100.0

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature."""
        return ("item count", "user activity", *(name for name, _ in self._scorers))

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Features of these pairs, (pairs, features)."""
        columns = np.empty((len(users), len(self.names)))
        columns[:, 0] = np.log1p(self.log.item_counts[items])
        columns[:, 1] = np.log1p(self.log.user_counts[users])
        order = np.argsort(users, kind="stable")
        starts = np.flatnonzero(np.diff(users[order], prepend=-1))
        bounds = np.append(starts, len(users))
        for first in range(0, len(starts), _BLOCK):
            last = min(first + _BLOCK, len(starts))
            rows = order[bounds[first] : bounds[last]]
            who = users[order[starts[first:last]]]
            place = np.repeat(np.arange(last - first), np.diff(bounds[first : last + 1]))
            for k in range(len(self._scorers)):
                columns[rows, 2 + k] = self._scores_of(k, who, place, items[rows])
        return columns

    def block(self, users: Ints, /) -> Floats:
        """Features of these users with every item, (users, items, features)."""
        features = np.empty((len(users), self.log.n_items, len(self.names)))
        features[:, :, 0] = np.log1p(self.log.item_counts)
        features[:, :, 1] = np.log1p(self.log.user_counts[users])[:, None]
        for k in range(len(self._scorers)):
            features[:, :, 2 + k] = self._scores(k, users)
        return features

    @cached_property
    def _scorers(self) -> tuple[tuple[str, ItemItemScorer], ...]:
        rng = np.random.default_rng(0)  # neither model draws
        models: list[Ease | ItemKnn] = [ItemKnn()]
        items = int(np.count_nonzero(self.log.item_counts))
        if items <= EASE_ITEMS:
            models.insert(0, Ease(regularisation=self.regularisation))
        with one_thread():
            return tuple((type(model).word, model.learn(self.log, rng, _silent)) for model in models)

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """Row of each user in the models, which know only users with rows, and code of each of their columns."""
        users = np.full(self.log.n_users, -1)
        known = np.flatnonzero(self.log.user_counts)
        users[known] = np.arange(len(known))
        declared = self.log.item_vocabulary.declared
        return users, np.arange(self.log.n_items) if declared else np.flatnonzero(self.log.item_counts)

    def _scores_of(self, k: int, users: Ints, place: Ints, items: Ints) -> Floats:
        """Scores of pairs, whose users are places among `users`; 0 where the model does not know both."""
        rows, columns = self._places
        column = np.full(self.log.n_items, -1)
        column[columns] = np.arange(len(columns))
        known_user = rows[users] >= 0
        row = np.cumsum(known_user) - 1
        known = known_user[place] & (column[items] >= 0)
        scores = np.zeros(len(items))
        if known.any():
            block = self._of_model(k, rows[users[known_user]])
            scores[known] = block[row[place[known]], column[items[known]]]
        return scores

    def _scores(self, k: int, users: Ints) -> Floats:
        rows, columns = self._places
        scores = np.zeros((len(users), self.log.n_items))
        known = np.flatnonzero(rows[users] >= 0)
        scores[np.ix_(known, columns)] = self._of_model(k, rows[users[known]])
        return scores

    def _of_model(self, k: int, rows: Ints) -> Matrix:
        """Scores of users, by their rows in a model."""
        kept = self._kept[k]
        return self._scorers[k][1].score(rows) if kept is None else kept[rows]

    @cached_property
    def _kept(self) -> tuple[Matrix | None, ...]:
        """All scores of each model, if they are few."""
        return tuple(
            model.score(np.arange(model.shape[0])) if model.shape[0] * model.shape[1] <= _KEPT else None
            for _, model in self._scorers
        )


def _silent(done: int, total: int) -> None:
    """Report no progress: both models are fast."""
