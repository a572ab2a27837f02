"""The base of worlds in which users like some items and consume a part of those."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from unskew.arrays import Bools, Floats, Ints, SeedLike, offsets_of
from unskew.data import Interactions, test_propensity
from unskew.data.vocabulary import Vocabulary
from unskew.errors import ConfigError, DataError
from unskew.simulators.preferences import Preferences
from unskew.simulators.profile_sizes import ProfileSizes
from unskew.simulators.world import World, WorldModel

LARGEST = 40_000_000
"""Largest number of likes, and of users, of a world; about 3 GiB."""
GRADES = 5
"""Largest strength of likes in graded worlds without their own strengths, which are uniform from 1 to this."""


@dataclass(frozen=True)
class PreferenceWorld(WorldModel):
    r"""A world with the items that users like and those that they consume (Tian & Ekstrand 2020).

    A user with the likes :math:`\tilde I_u` consumes :math:`n_u` of them, drawn one after another without replacement:
    with equal chances (``uniform``), in proportion to how many users like an item (``popular``), or to how much this
    user likes it (``preferred``). The share `holdout` of them, rounded, is moved to the test at random. A row that is
    not in train is then in the test with probability

    .. math:: P_{ui} = \frac{h\,p_{ui}}{1 - (1 - h)\,p_{ui}}, \qquad p_{ui} = 1 - e^{-w_{ui} t_u}

    with weights w, the held-out share h of the user's rows, and t such that the sum of p over all likes of the user is
    the number of the user's rows. It is exact for ``uniform``, and for the others the usual approximation of drawing
    without replacement in proportion to size [rosen1972]. For a dozen likes with weights from 1 to 100 its error is 5 %
    on average and 12 % at most; with two hundred likes per user, rows of every popularity occur as often as P predicts,
    to 0.6 %.

    Parameters
    ----------
    users : int
    observe : {"uniform", "popular", "preferred"}
    sizes : str
        The word of the profile sizes, ``pareto(...)`` or ``beta-binomial(...)``.
    excess : {"clamp", "reject"}
        Whether a profile size above the user's number of likes is cut to that, or drawn again.
    holdout : float
        Share of each user's rows that is held out.
    dislikes : float
        Share of the rows whose items the user consumes without liking them.
    graded : bool
        Whether likes have a strength.
    """

    users: int = 1000
    observe: Literal["uniform", "popular", "preferred"] = "popular"
    sizes: str = "pareto(scale=10, shape=1, upper=200)"
    excess: Literal["clamp", "reject"] = "clamp"
    holdout: float = 0.2
    dislikes: float = 0.0
    graded: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.users <= LARGEST:
            raise self._outside("users", f"1 to {LARGEST:,}")
        for option, choices in (("observe", ("uniform", "popular", "preferred")), ("excess", ("clamp", "reject"))):
            if getattr(self, option) not in choices:
                raise self._outside(option, f"one of {', '.join(choices)}")
        if not 0 < self.holdout < 1:
            raise self._outside("holdout", "a share between 0 and 1")
        if not 0 <= self.dislikes < 1:
            raise self._outside("dislikes", "a share of 0 or more, below 1")
        if self.observe == "preferred" and not self.graded:
            raise ConfigError(f"{self.word}(observe=preferred) needs likes of unequal strength; add 'graded'")
        _ = self.profile_sizes  # refuses a wrong word now

    def _outside(self, option: str, expected: str) -> ConfigError:
        value = getattr(self, option)
        shown = f"{value:g}" if isinstance(value, float) else value
        return ConfigError(f"{self.word}({option}={shown}): expected {expected}")

    @cached_property
    def profile_sizes(self) -> ProfileSizes:
        """The parsed profile sizes."""
        return ProfileSizes.from_word(self.sizes)

    @abstractmethod
    def like(self, rng: SeedLike = 0) -> Preferences:
        """Draw the likes of all users."""

    @abstractmethod
    def expected_likes(self) -> float:
        """An upper bound of the expected number of likes of all users; time and memory are proportional to it."""

    def check_size(self, largest: float = LARGEST) -> None:
        """Refuse a world that is too large to draw.

        Raises
        ------
        DataError
            With the expected size.
        """
        expected = self.expected_likes()
        if not expected <= largest:
            raise DataError(
                f"{self.word} with {self.users:,} users: about {expected:,.0f} likes are expected, but at most "
                f"{largest:,.0f} are possible; {self.smaller} or fewer users"
            )

    smaller = "use fewer likes"

    def log(self, rng: SeedLike = 0) -> Interactions:
        """The rows of train and test together of the world drawn from the same random numbers."""
        generator = np.random.default_rng(rng)
        observed = _Observed.of(self, self._likes(generator), generator)
        return observed.interactions(observed.state > 0, observed.extra_state > 0, "log")

    def draw(self, rng: SeedLike = 0) -> World:
        """Draw the likes, the observed part and the split."""
        generator = np.random.default_rng(rng)
        return self.observe_again(self._likes(generator), generator)

    def observe_again(self, likes: Preferences, rng: SeedLike = 0) -> World:
        """Draw the observed part of given likes, and the split.

        Parameters
        ----------
        likes : Preferences
            As in `World.likes`; with a strength if ``observe=preferred``.
        rng : int or Generator
        """
        generator = np.random.default_rng(rng)
        return _Observed.of(self, likes, generator).hide(self, generator)

    def _likes(self, generator: np.random.Generator) -> Preferences:
        self.check_size()
        likes = self.like(generator)
        if self.graded and likes.strength is None:
            strength = generator.integers(1, GRADES + 1, size=len(likes)).astype(np.float64)
            likes = Preferences(likes.offsets, likes.items, likes.n_items, strength)
        if not len(likes):
            raise DataError(f"{self}: no user likes an item; use more likes")
        return likes


@dataclass(frozen=True, eq=False)
class _Observed:
    """Likes and the state of each (not observed, in train or in the test), and the disliked rows."""

    likes: Preferences
    weights: Floats
    n_disliked: Ints
    item_weights: Floats
    state: Ints
    extra_offsets: Ints
    extra_items: Ints
    extra_state: Ints

    @classmethod
    def of(cls, model: PreferenceWorld, likes: Preferences, generator: np.random.Generator) -> "_Observed":
        """Draw the observed rows, all in train at first."""
        from unskew.simulators.observation_kernel import TRAIN, draw_disliked, draw_observed

        limit = likes.counts if model.excess == "reject" else None
        sizes = np.minimum(model.profile_sizes.draw(likes.n_users, generator, limit), likes.counts).astype(np.int64)
        disliked = np.zeros_like(sizes)
        if model.dislikes:
            known = int(np.count_nonzero(likes.popularity))  # items that no user likes are not consumed either
            disliked = np.minimum(generator.binomial(sizes, model.dislikes), known - likes.counts)
        weights = _weights(model, likes)
        state = np.zeros(len(likes), dtype=np.int8)
        draw_observed(likes.offsets, weights, sizes - disliked, generator, state)
        by_item = likes.popularity.astype(np.float64)
        if model.observe != "popular":
            by_item = np.minimum(by_item, 1.0)
        starts, items = draw_disliked(likes.offsets, likes.items, np.cumsum(by_item), disliked, generator)
        extra_state = np.full(len(items), TRAIN, dtype=np.int8)
        return cls(likes, weights, disliked, by_item, state, starts, items, extra_state)

    def hide(self, model: PreferenceWorld, generator: np.random.Generator) -> World:
        """Hold out a part, and compute its probability."""
        from unskew.simulators.observation_kernel import TEST, TRAIN, hold_out, solve_chances

        likes, state, extra = self.likes, self.state, self.extra_state
        held = hold_out(likes.offsets, state, self.extra_offsets, extra, model.holdout, generator)
        train = self.interactions(state == TRAIN, extra == TRAIN, "train")
        if not held.any() or not len(train):
            raise DataError(
                f"{model}: train or test is empty, because few rows are observed; use more users or larger sizes"
            )
        rows = train.user_counts + held
        shares = np.divide(held, rows, out=np.zeros(len(held)), where=rows > 0)
        weights = self.weights if len(self.weights) else np.ones(len(likes))
        chances = np.zeros(len(likes))
        solve_chances(likes.offsets, weights, rows - self.n_disliked, shares, chances)
        hidden, in_test = state != TRAIN, extra == TEST
        counts = np.bincount(likes.row_users[hidden], minlength=likes.n_users)
        propensity = np.concatenate([chances[state == TEST], self._extra_chances(shares)[in_test]])
        return World(
            train=train,
            test=self.interactions(state == TEST, in_test, "test", propensity),
            offsets=offsets_of(counts),
            items=likes.items[hidden],
            origin=str(model),
            chances=chances[hidden],
            strength=None if likes.strength is None else likes.strength[hidden],
            likes=likes,
        )

    def _extra_chances(self, shares: Floats) -> Floats:
        """P of the disliked rows: few are drawn from many, so t follows from the first two terms of the sum over p."""
        users = np.repeat(np.arange(len(shares)), self.n_disliked)
        free = []
        for weights in (self.item_weights, self.item_weights**2):
            liked = np.bincount(self.likes.row_users, weights[self.likes.items], minlength=len(shares))
            free.append(np.maximum(weights.sum() - liked, 1.0))
        first = self.n_disliked / free[0]  # t, if p were w t
        rate = (first * (1 + 0.5 * first * free[1] / free[0]))[users]
        p = -np.expm1(-self.item_weights[self.extra_items] * rate)
        return test_propensity(p, 1 - shares[users], shares[users])

    def interactions(self, liked: Bools, extra: Bools, name: str, propensity: Floats | None = None) -> Interactions:
        """Rows of liked and disliked items in these states, sorted by user and item."""
        likes = self.likes
        users, items = likes.row_users[liked], likes.items[liked]
        if extra.any():
            more = np.repeat(np.arange(likes.n_users, dtype=np.int32), np.diff(self.extra_offsets))[extra]
            users, items = np.append(users, more), np.append(items, self.extra_items[extra])
            order = np.lexsort((items, users))
            users, items = users[order], items[order]
            propensity = None if propensity is None else propensity[order]
        return Interactions(  # constructed directly, because the rows are distinct and sorted
            users,
            items,
            Vocabulary.of_range(likes.n_users),
            Vocabulary.of_range(likes.n_items),
            propensity=propensity,
            name=name,
        )


def _weights(model: PreferenceWorld, likes: Preferences) -> Floats:
    """Weight of each like in the draw of observed rows; empty if all are equal."""
    if model.observe == "uniform":
        return np.empty(0)
    if model.observe == "popular":
        return likes.popularity[likes.items].astype(np.float64)
    assert likes.strength is not None
    return likes.strength
