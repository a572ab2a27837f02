"""`Recommender`: ranks the judged rows of a simulated world, in closed form or by a model."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from unskew.arrays import Ints
from unskew.data import Interactions, Split
from unskew.data.pairs import pair_keys, row_keys
from unskew.errors import ConfigError, did_you_mean
from unskew.models import Model
from unskew.notation import Named, parse_word
from unskew.ranking import Ranks, Scorer, Threads, Ties, prepare_contest, rank
from unskew.simulators import World
from unskew.trials.rows import JudgedRows

RULE = "trained"  # candidates: the items seen in training by anybody, minus the user's own


class Recommender(Named, family="recommender"):
    """Ranks judged rows among the candidates, the items seen in training minus the user's own.

    A row whose item nobody trained on is not a candidate. It is below all of them, ``above == candidates``, is in no
    list, and so gains nothing.
    """

    ranks_strangers: ClassVar[bool] = True
    """Whether users who are not in the log can be ranked for."""

    @abstractmethod
    def rank(self, judged: JudgedRows, world: World, *, ties: Ties = "expected", seed: int = 0) -> Ranks:
        """Rank each judged row, from the log of the world and not from its truth.

        Ties are ``expected`` or ``ordinal``; models take any policy.
        """


@dataclass(frozen=True)
class Oracle(Recommender, word="oracle"):
    """Lists only the candidates that the user likes.

    In truth, each of its places is a hit: precision by the list's length and the reciprocal rank are 1. All items of a
    list are tied. Under ``ordinal`` the lowest item code comes first, as in the paper's runs; in an Indian buffet
    process that is the oldest and so the most popular item, which helps the oracle.

    A candidate that the user does not like is below the list, which matters only to metrics without a cut-off, such as
    ``auc``, on held-out rows that are disliked: under ``expected`` at the mean of all places there, under ``ordinal``
    at the first of them, whatever its code, so that the values of these rows are upper bounds.

    Parameters
    ----------
    graded : bool
        List items in the order of how much the user likes them, if the world has that.
    """

    graded: bool = False

    def rank(self, judged: JudgedRows, world: World, *, ties: Ties = "expected", seed: int = 0) -> Ranks:
        """Count each user's liked candidates."""
        from unskew.trials.kernel import rank_liked

        liked, strength, ordinal = judged.in_truth, judged.strength if self.graded else None, _is_ordinal(self, ties)
        above, tied, listed = rank_liked(
            judged.offsets, judged.items, liked, strength, judged.counts, judged.candidates, ordinal
        )
        return _ranks(judged, above, tied, listed, ties)


@dataclass(frozen=True)
class Popular(Recommender, word="popular"):
    """The candidates by their number of training rows; under ``ordinal`` the lowest item code first."""

    def rank(self, judged: JudgedRows, world: World, *, ties: Ties = "expected", seed: int = 0) -> Ranks:
        """Take each item's place in the order of all items, minus the user's own items before it."""
        from unskew.trials.kernel import rank_places

        counts = np.asarray(judged.counts)
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        places = np.full(len(counts), -1, dtype=np.int64)
        places[order] = np.arange(len(order))
        falling = -counts[order]
        starts, ends = np.searchsorted(falling, -counts), np.searchsorted(falling, -counts, side="right")
        rows, trained = (judged.offsets, judged.items), (judged.train_offsets, judged.train_items)
        above, tied = rank_places(*rows, places, starts, ends, *trained, judged.candidates, _is_ordinal(self, ties))
        return _ranks(judged, above, tied, judged.candidates[judged.user], ties)


@dataclass(frozen=True)
class Random(Recommender, word="random"):
    """All candidates in random order; always in expectation, whatever the tie policy."""

    def rank(self, judged: JudgedRows, world: World, *, ties: Ties = "expected", seed: int = 0) -> Ranks:
        """Tie all candidates."""
        candidates = judged.candidates[judged.user]
        known = judged.counts[judged.items] > 0
        above = np.where(known, 0, candidates).astype(np.int32)
        tied = np.where(known, candidates - 1, 0).astype(np.int32)
        return _ranks(judged, above, tied, candidates, "expected")


@dataclass(frozen=True, eq=False)
class Learnt(Recommender):
    """A scorer made from the log: a model fitted to it, or the result of a function of the world.

    Users without a training row are unknown to most models; for them the list is empty.
    """

    learn: "Model | Callable[[World], Scorer]"
    ranks_strangers: ClassVar[bool] = False

    def rank(self, judged: JudgedRows, world: World, *, ties: Ties = "expected", seed: int = 0) -> Ranks:
        """Fit, score and count, on one thread because trials run in parallel; rows outside the candidates come last."""
        learn = self.learn
        scorer = learn.fit(world.train, rng=seed) if isinstance(learn, Model) else learn(world)
        test = Interactions(
            judged.row_users, judged.items, world.train.user_vocabulary, world.train.item_vocabulary, name="judged rows"
        )
        contest = prepare_contest({"model": scorer}, Split(world.train, test, candidates=RULE))
        ranks = rank(scorer, contest, name="model", ties=ties, engine=Threads(1), seed=seed)
        width = len(judged.counts)
        rows = np.searchsorted(pair_keys(judged.row_users, judged.items, width), row_keys(ranks, width))
        above = judged.candidates[judged.user]
        tied = np.zeros_like(above)
        above[rows], tied[rows] = ranks.above, ranks.tied
        lengths = judged.candidates.copy()
        if ranks.listed is not None:
            lengths[judged.user[rows]] = ranks.listed
        lengths[contest.bindings["model"].rows[judged.users] < 0] = 0  # unknown users
        return _ranks(judged, above, tied, lengths[judged.user], ranks.ties)


RecommenderLike: TypeAlias = "str | Recommender | Model | Callable[[World], Scorer]"
Recommenders: TypeAlias = "Sequence[str | Recommender | Model] | Mapping[str, RecommenderLike]"


def parse_recommender(word: str) -> Recommender:
    """Read a word: ``oracle``, ``popular`` and ``random`` in closed form, else a model of the project."""
    parsed = parse_word(word)
    closed, models = ([member.word for member in family.members()] for family in (Recommender, Model))
    if parsed.name in closed:
        return Recommender.from_word(parsed)
    if ":" not in parsed.name and parsed.name not in models:
        raise ConfigError(f"unknown recommender {parsed.name!r}{did_you_mean(parsed.name, [*closed, *models])}")
    return Learnt(Model.from_word(parsed))


def resolve_recommenders(given: Recommenders) -> dict[str, Recommender]:
    """Return the recommenders by name: their words, or the names given."""
    named = given.items() if isinstance(given, Mapping) else [(str(each), each) for each in given]
    resolved: dict[str, Recommender] = {}
    for name, each in named:
        if name in resolved:
            raise ConfigError(f"recommender {name!r} appears twice; give a mapping with different names")
        parsed = parse_recommender(each) if isinstance(each, str) else each
        resolved[name] = parsed if isinstance(parsed, Recommender) else Learnt(parsed)
    if not resolved:
        raise ConfigError("there is no recommender to judge; name at least one, as in 'popular'")
    return resolved


def _is_ordinal(recommender: Recommender, ties: Ties) -> bool:
    if ties not in {"expected", "ordinal"}:
        raise ConfigError(f"ties={ties}: {recommender} has only expected and ordinal")
    return ties == "ordinal"


def _ranks(judged: JudgedRows, above: Ints, tied: Ints, listed: Ints, ties: Ties) -> Ranks:
    candidates = judged.candidates[judged.user]
    return Ranks(judged.row_users, judged.items, above, tied, candidates, listed=listed, ties=ties, candidate_rule=RULE)
