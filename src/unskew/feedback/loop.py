"""`simulate_feedback`: rounds of showing lists and consuming, each judged by the items consumed in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.data.concentration import gini
from unskew.errors import ConfigError, DataError
from unskew.feedback.behaviour import Behaviour, in_log, join, play_round
from unskew.models import Model
from unskew.notation import parse_word
from unskew.progress import Stage
from unskew.ranking import Scorer, Threads, TopLists, top_lists
from unskew.simulators import Preferences, PreferenceWorld
from unskew.trials import METHODS, Design, Method, Trial, Trials, judge, resolve_recommenders
from unskew.trials.recommenders import RecommenderLike, parse_recommender

METRICS = ("recall@50", "adg@50", "precision(of=list)@50")
OTHERS = ("oracle", "popular")
HEAD = 0.05
"""Share of the items that are the head: those with the most rows."""


@dataclass(frozen=True, eq=False)
class Feedback:
    """The log of a feedback loop, and the evaluations on it, round by round.

    Parameters
    ----------
    recommender : str
        Word of the recommender that showed the lists.
    behaviour : Behaviour
    k : int
        Length of the lists.
    trials : Trials
        Truth, estimates and standard errors, as arrays of rounds by recommenders by metrics by methods: the k-th
        of its runs is the k-th round.
    rows : array of int (rounds + 1)
        Size of the log before each round, and after the last.
    gini, head : array (rounds + 1)
        Gini coefficient of the log's rows over the items that anybody likes, and the share of the rows of the 5 % of
        these items with the most rows.
    log : Interactions
        The log after the last round.
    """

    recommender: str
    behaviour: Behaviour
    k: int
    trials: Trials
    rows: Ints
    gini: Floats
    head: Floats
    log: Interactions

    def __len__(self) -> int:
        return len(self.trials)

    def truth(self, recommender: str, metric: str, method: str = "aoa") -> Floats:
        """The true value of the method's target in each round."""
        return self.trials.truth[(slice(None), *self._place(recommender, metric, method))]

    def estimate(self, recommender: str, metric: str, method: str = "aoa") -> Floats:
        """The estimate in each round; `method` is a label such as ``ips, true``."""
        return self.trials.estimate[(slice(None), *self._place(recommender, metric, method))]

    def error(self, recommender: str, metric: str, method: str = "aoa") -> Floats:
        """Estimate minus truth."""
        return self.estimate(recommender, metric, method) - self.truth(recommender, metric, method)

    def _place(self, recommender: str, metric: str, method: str) -> tuple[int, int, int]:
        design = self.trials.design
        places = []
        for word, words in ((recommender, design.recommenders), (metric, design.metrics), (method, design.labels)):
            if word not in words:
                raise ConfigError(f"{word!r} was not judged; there are {'; '.join(words)}")
            places.append(words.index(word))
        return places[0], places[1], places[2]


def simulate_feedback(
    world_model: PreferenceWorld,
    recommender: str,
    rounds: int,
    *,
    k: int = 20,
    eta: float = 1.0,
    take: float = 0.5,
    organic: float = 0.02,
    dislikes: float = 0.0,
    metrics: Sequence[str] = METRICS,
    methods: Sequence[Method] = METHODS,
    others: Sequence[str] = OTHERS,
    seed: int = 0,
    progress: Stage | None = None,
) -> Feedback:
    r"""Let a recommender show lists for some rounds, each trained on what was consumed before.

    The first log is what the world observes of its likes. In each round the recommender learns from the log, shows each
    user the best k items that are in anybody's log and not in the user's own, and users consume as in `Behaviour`. The
    consumed items are the test of recommenders trained on the log before the round, and then become part of the log.

    The probability of each row of that test is known exactly, so the round is an evaluation with known propensities.
    All users who like something outside the log are judged, because it depends on chance here who has a test row.

    Parameters
    ----------
    world_model : PreferenceWorld
        Its likes stay the same in all rounds; its `observe` decides which items are found without a list.
    recommender : str
        Word of a model, or ``oracle``, which shows what the user likes, in random order.
    rounds : int
    k : int
        Length of the lists.
    eta, take, organic, dislikes : float
        See `Behaviour`.
    metrics : sequence of str
    methods : sequence of Method
    others : sequence of str
        Recommenders that are judged in addition to the one that shows lists. They learn from its log.
    seed : int
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Raises
    ------
    ConfigError
        For options out of range, and if `organic` is 0 while true propensities are asked for: no weight can correct for
        pairs that have no chance to be seen.
    DataError
        If no liked item is left, or nothing is consumed.

    Examples
    --------
    Lists of popular items make them more popular, and the naive average of the popular list too good:

    >>> from unskew.simulators import Lda
    >>> world = Lda(users=500, items=200, topics=5, likes=60, sizes="pareto(scale=5, shape=1, upper=30)")
    >>> loop = simulate_feedback(world, "popular", rounds=3, k=10, metrics=["recall@10"], seed=1)
    >>> bool(loop.head[-1] > loop.head[0])
    True
    >>> bool((loop.error("popular", "recall@10") > 0.2).all())
    True
    >>> bool((abs(loop.error("popular", "recall@10", "ips, true")) < 0.1).all())
    True
    """
    behaviour = Behaviour(eta, take, organic, dislikes)
    _check(rounds, k, behaviour, methods)
    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    if not isinstance(world_model, PreferenceWorld):
        raise ConfigError(f"{world_model!r} is not a world of likes; give one, as Lda(users=400, items=300)")
    loop = _Loop.start(world_model, recommender, behaviour, k, seed)
    names = tuple(dict.fromkeys([*others, recommender]))
    design = Design(names, tuple(metrics), tuple(methods), population="all")
    trials: list[Trial] = []
    states = [loop.state()]
    for number in range(rounds):
        trials.append(loop.play(number, design))
        states.append(loop.state())
        if progress is not None:
            progress("rounds", number + 1, rounds)
    rows, spread, head = zip(*states, strict=True)
    return Feedback(
        recommender=recommender,
        behaviour=behaviour,
        k=k,
        trials=Trials.of(trials, world=str(world_model), seed=seed),
        rows=np.array(rows),
        gini=np.array(spread),
        head=np.array(head),
        log=loop.log,
    )


def _check(rounds: int, k: int, behaviour: Behaviour, methods: Sequence[Method]) -> None:
    if rounds < 1:
        raise ConfigError(f"{rounds} rounds: at least 1 is needed")
    if k < 1:
        raise ConfigError(f"k={k}: a list needs at least 1 place")
    needing = [each.label for each in methods if each.propensity == "true"]
    if behaviour.organic == 0 and needing:
        raise ConfigError(
            f"organic=0: a liked item that is not shown has no chance to be in the test, so {needing[0]} is biased "
            "whatever its weights; use organic above 0, or leave out methods with true propensities"
        )


@dataclass(eq=False)
class _Loop:
    """A feedback loop while it runs: its log grows with each round."""

    model: PreferenceWorld
    word: str
    behaviour: Behaviour
    k: int
    seed: int
    likes: Preferences
    log: Interactions

    @classmethod
    def start(cls, model: PreferenceWorld, word: str, behaviour: Behaviour, k: int, seed: int) -> "_Loop":
        """Draw likes and the first log."""
        parse_recommender(word)  # refuses an unknown word before anything is drawn
        world = model.draw(np.random.default_rng([seed, 0]))
        assert world.likes is not None
        log = join(world)
        known = int(np.count_nonzero(log.item_counts))
        if k > known:
            raise ConfigError(f"k={k}: the first log has {known} items; show shorter lists or draw a larger world")
        return cls(model, word, behaviour, k, seed, world.likes, log)

    def state(self) -> tuple[int, float, float]:
        """Size of the log, its Gini coefficient and the share of its head."""
        counts = np.sort(self.log.item_counts[self.likes.popularity > 0])[::-1]
        top = int(np.ceil(HEAD * len(counts)))
        return len(self.log), gini(counts.astype(float)), float(counts[:top].sum() / counts.sum())

    def play(self, number: int, design: Design) -> Trial:
        """Learn, show, consume and judge; the log grows."""
        rng = np.random.default_rng([self.seed, 1, number])
        learnt = int(np.random.SeedSequence([self.seed, 2, number]).generate_state(1)[0])
        lists, scorer = self._lists(learnt, rng)
        origin = f"round {number + 1} of {self.model}"
        world = play_round(self.likes, self.log, lists, self.behaviour, rng, observe=self.model.observe, origin=origin)
        if not len(world.test):
            raise DataError(f"{origin}: nothing was consumed; use a larger take or organic, or fewer rounds")
        named: dict[str, RecommenderLike] = {name: name for name in design.recommenders}
        if scorer is not None:  # the same scores that made the lists
            named[self.word] = lambda _: scorer
        trial = judge(world, resolve_recommenders(named), design, seed=learnt)
        self.log = join(world)
        return trial

    def _lists(self, seed: int, rng: np.random.Generator) -> tuple[TopLists, Scorer | None]:
        if parse_word(self.word).name == "oracle":
            return list_liked(self.likes, self.log, self.k, rng), None
        scorer = Model.from_word(self.word).fit(self.log, rng=seed)
        return top_lists(scorer, self.log, self.k, engine=Threads(1)), scorer


def list_liked(likes: Preferences, log: Interactions, k: int, rng: np.random.Generator) -> TopLists:
    """Lists of up to k liked items that are in anybody's log and not in the user's, in random order."""
    rows = np.flatnonzero(~in_log(likes, log) & (log.item_counts[likes.items] > 0))
    rows = rows[np.lexsort((rng.random(len(rows)), likes.row_users[rows]))]
    users, starts, counts = np.unique(likes.row_users[rows], return_index=True, return_counts=True)
    place = np.arange(len(rows)) - np.repeat(starts, counts)
    items = np.full((len(users), k), -1, dtype=np.int32)
    kept = place < k
    items[np.repeat(np.arange(len(users)), counts)[kept], place[kept]] = likes.items[rows][kept]
    return TopLists(users.astype(np.int32), items)
