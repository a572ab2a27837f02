"""A log that is observed selectively, models of it, and dense oracles of estimates over all its candidates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew import Interactions, Split
from unskew.arrays import Bools, Floats
from unskew.ranking import MatrixScorer, Scorer
from unskew.simulators import SelectionWorld
from unskew.simulators.selection_world import SelectionDraw

USERS, ITEMS = 60, 40


@dataclass(frozen=True, eq=False)
class SelectedLog:
    """A draw of a selection world with its training pairs, and models with and without ties."""

    drawn: SelectionDraw
    in_train: Bools

    @classmethod
    def of(cls, preset: str = "mixed", seed: int = 1, *, density: float = 0.3, base: float = -1.2) -> "SelectedLog":
        world = SelectionWorld.preset(preset, users=USERS, items=ITEMS, density=density, base=base)
        drawn = world.draw(seed)
        first = np.random.default_rng(seed).random(drawn.observed.shape) < 0.7
        return cls(drawn, drawn.observed & first)

    @property
    def in_test(self) -> Bools:
        return self.drawn.observed & ~self.in_train

    @property
    def candidates(self) -> Bools:
        """The candidates under ``unseen``."""
        return ~self.in_train

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """Scores of three models; those of `level` have ties."""
        drawn = self.drawn
        taste = drawn.affinity.astype(float)
        popular = np.tile(drawn.popularity.astype(float), (USERS, 1))
        level = np.round(2 * (taste + drawn.quality.astype(float)))
        return {"taste": taste, "popular": popular, "level": level}

    @cached_property
    def models(self) -> dict[str, Scorer]:
        return {name: MatrixScorer(scores) for name, scores in self.scores.items()}

    def rows(self, mask: Bools, name: str, *, positives: bool = False) -> Interactions:
        """Pairs with their labels; only the positives, and without labels, on demand."""
        users, items = np.nonzero(mask & self.drawn.relevant if positives else mask)
        label = None if positives else self.drawn.relevant[users, items].astype(float)
        return Interactions.from_arrays(users, items, label, n_users=USERS, n_items=ITEMS, name=name)

    def split(self, *, positives: bool = False, slice_rows: int = 0, seed: int = 0, **options: object) -> Split:
        """The log, all of it or its positives, with a slice of that many random candidates."""
        drawn = self.random_slice(slice_rows, seed) if slice_rows else None
        parts = (self.rows(m, n, positives=positives) for m, n in ((self.in_train, "train"), (self.in_test, "test")))
        return Split(*parts, slice=drawn, **options)  # type: ignore[arg-type]

    def random_slice(self, rows: int, seed: int = 0) -> Interactions:
        return self.drawn.random_slice(rows, seed, outside=self.in_train)

    def slice_of(self, users: Floats, items: Floats) -> Interactions:
        """These pairs with their labels."""
        label = self.drawn.relevant[users, items].astype(float)
        return Interactions.from_arrays(users, items, label, n_users=USERS, n_items=ITEMS, name="slice")

    def truth(self, word: str, model: str) -> float:
        """The mean gain of all relevant candidates."""
        return float(self.gains(word, model)[self.drawn.relevant & self.candidates].mean())

    def gains(self, word: str, model: str) -> Floats:
        """The gain of every pair under a metric: of candidates by their places, with ties in expectation; else 0."""
        gained = np.zeros((USERS, ITEMS))
        for user in range(USERS):
            chosen = np.flatnonzero(self.candidates[user])
            scores = self.scores[model][user, chosen]
            for item, score in zip(chosen, scores, strict=True):
                above, same = int(np.sum(scores > score)), int(np.sum(scores == score))
                places = [gain_at(word, above + k, len(chosen)) for k in range(same)]
                gained[user, item] = sum(places) / same
        return gained


def gain_at(word: str, above: int, candidates: int) -> float:
    """The gain of a relevant item with that many candidates above it."""
    name, _, cut = word.partition("@")
    if cut and above >= int(cut):
        return 0.0
    if name in {"adg", "dcg"}:
        return float(1 / np.log2(above + 2))
    return 1 - above / candidates if name == "auc" else 1.0


def ndcg_by_enumeration(scores: Floats, chances: Floats, k: int, draws: int, seed: int) -> float:
    """The mean ndcg@k of one user if items are relevant with these chances, given that one is, by simulation."""
    rng = np.random.default_rng(seed)
    order = np.argsort(-scores)
    relevant = rng.random((draws, len(scores))) < chances
    relevant = relevant[relevant.any(axis=1)]
    discount = 1 / np.log2(np.arange(k) + 2)
    dcg = relevant[:, order[:k]] @ discount
    ideal = np.cumsum(discount)[np.minimum(relevant.sum(axis=1), k) - 1]
    return float(np.mean(dcg / ideal))


def selected_by_popularity(log: SelectedLog, rows: int, strength: float, seed: int = 0) -> Interactions:
    """A slice that is not random: popular candidates are more likely."""
    weight = np.where(log.in_train, 0.0, (1.0 + log.in_train.sum(axis=0)) ** strength)
    chosen = np.random.default_rng(seed).choice(weight.size, rows, replace=False, p=(weight / weight.sum()).ravel())
    users, items = np.unravel_index(np.sort(chosen), weight.shape)
    return log.slice_of(users, items)
