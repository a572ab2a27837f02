"""When each form of SNIPS helps: a simulation in which the truth is known.

Three things vary: positives per user in the test, how strongly the log follows popularity, and how wrong the assumed
gamma is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators import Aoa, Estimator, Rows, Snips
from unskew.metrics import Metric, Recall
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Key, Trials

METRIC: Metric = Recall() @ 100
POSITIVES = (1.0, 2.0, 5.0, 20.0)
GAMMAS = (0.0, 1.0, 2.0)
OFF = (-1.0, -0.5, 0.0, 0.5, 1.0)
BASE_POSITIVES, BASE_GAMMA = 2.0, 1.0
USERS, DRAWS, ITEMS = Size(500, 100), Size(100, 20), 1000
MEASURES: Mapping[str, str] = {"bias": "relative bias", "rmse": "relative RMSE", "right": "right model first"}
FORMS: Mapping[str, Estimator] = {
    "aoa": Aoa(),
    "snips(per=user)": Snips(per="user"),
    "snips(per=balanced)": Snips(per="balanced"),
    "snips": Snips(),
}
NAIVE, USER, BALANCED, PAIR = FORMS
CORRECTED = (USER, BALANCED, PAIR)
MODELS: Mapping[str, tuple[float, float]] = {"personal": (1.0, 0.0), "mixed": (1.25, 0.2), "popular": (1.1, 0.7)}
"""Models, by the weights of a user's taste and of popularity in their scores; noise has size 1.

The best is in the middle, so that a choice can be wrong to both sides: with too little correction the popular one looks
best, with too much the personal one gains on it.
"""
RANGE = 20.0  # the expected count of the most popular item over that of the least popular one
LEAST = 2.0  # the expected count of the least popular item
LIKED = 0.2  # share of the items that a user likes


@dataclass(frozen=True)
class Assumption:
    """Assumed propensities: assumed minus true gamma (None: P is known), and what is added to training counts."""

    off: float | None = 0.0
    smoothing: float = 1.0

    def __str__(self) -> str:
        if self.off is None:
            return "P known"
        added = "" if self.smoothing == 1 else f", smoothing {self.smoothing:g}"
        return (f"gamma off by {self.off:+g}" if self.off else "gamma right") + added


RIGHT, HALF_MORE, MOST = Assumption(), Assumption(0.5), Assumption(OFF[-1])
ASSUMPTIONS = (*map(Assumption, OFF), Assumption(smoothing=0.0), Assumption(None))


@dataclass(frozen=True, eq=False)
class World:
    """All pairs of a user and an item the user likes, sorted by user; P is proportional to count^((gamma + 1) / 2).

    By item there are the expected training count and the one that was drawn; `gains` are (models, pairs).
    """

    gamma: float
    users: Ints
    items: Ints
    expected: Floats
    counts: Ints
    gains: Floats

    @classmethod
    def draw(cls, gamma: float, n_users: int, n_items: int, metric: Metric, rng: np.random.Generator) -> "World":
        r"""Draw likes, counts and the models' scores.

        Training counts follow :math:`n^*_i`, spread evenly over their logarithm. With :math:`P \propto
        (n^*)^{(\gamma+1)/2}` items are liked in proportion to :math:`n^*/P \propto (n^*)^{(1-\gamma)/2}`, as in the
        derivation of the paper's propensity (Yang et al. 2018, section 3.3).
        """
        expected = LEAST * RANGE ** np.linspace(1, 0, n_items)
        liking = expected ** ((1 - gamma) / 2)
        liked = rng.random((n_users, n_items)) < LIKED * liking / liking.mean()
        users, items = np.nonzero(liked)
        popularity = np.log(expected)
        popularity = (popularity - popularity.mean()) / popularity.std()
        gains = np.empty((len(MODELS), len(users)))
        for k, (taste, trend) in enumerate(MODELS.values()):
            scores = taste * liked + trend * popularity + rng.standard_normal(liked.shape)
            order = np.argsort(-scores, axis=1, kind="stable")
            above = np.argsort(order, axis=1, kind="stable")[users, items]
            gains[k] = metric.row_gains(above, np.zeros_like(above), np.full_like(above, n_items))
        return cls(gamma, users, items, expected, rng.poisson(expected), gains)

    @property
    def n_users(self) -> int:
        """How many like something."""
        return len(np.unique(self.users))

    @property
    def truth(self) -> Floats:
        """What each model is worth: the mean over users of the mean over what they like."""
        weight = 1 / np.bincount(self.users)[self.users] / self.n_users
        return np.asarray(self.gains @ weight)

    def propensity(self, positives: float) -> Floats:
        """P of each pair, so that a user has that many positives in the test on average."""
        relative = np.power(self.expected, (self.gamma + 1) / 2)[self.items]
        P = relative * positives * self.n_users / relative.sum()
        if P.max() > 1:
            raise ConfigError(f"{positives:g} positives per user need a propensity of {P.max():.2f}; ask for fewer")
        return np.asarray(P)

    def assumed(self, gamma: float, smoothing: float) -> Floats:
        """P of each pair, up to scale, from the training counts; NaN where the count is 0 and nothing is added."""
        counts = self.counts + smoothing
        by_item = np.where(counts > 0, np.power(counts / counts.max(), (gamma + 1) / 2), np.nan)
        return np.asarray((by_item / np.nanmax(by_item))[self.items])

    def estimates(
        self, positives: float, assumptions: tuple[Assumption, ...], draws: int, rng: np.random.Generator
    ) -> dict[tuple[Assumption, str], Floats]:
        """Estimates (draws, models) by each form under each assumption; users without observations are excluded."""
        P = self.propensity(positives)
        believed = {
            each: P if each.off is None else self.assumed(self.gamma + each.off, each.smoothing) for each in assumptions
        }
        values: dict[tuple[Assumption, str], list[list[float | None]]] = {
            key: [] for key in product(assumptions, FORMS)
        }
        for _ in range(draws):
            seen = np.flatnonzero(rng.random(len(P)) < P)
            for (each, form), by_draw in values.items():
                estimator = FORMS[form]
                # without a propensity a row is dropped, unless the form does not ask for one
                kept = seen[np.isfinite(believed[each][seen])] if estimator.uses_propensity else seen
                user = np.unique(self.users[kept], return_inverse=True)[1]
                rows = Rows(np.empty(0), user, believed[each][kept])
                by_draw.append([estimator.terms(rows.with_worth(worth[kept]), "mean").value for worth in self.gains])
        return {key: np.array(rows, dtype=float) for key, rows in values.items()}


def score(estimates: Floats, truth: Floats) -> dict[str, float]:
    """How good a form is over draws, from estimates (draws, models).

    Bias and RMSE are relative to the truth and averaged over models; ``right`` is the share of draws in which the best
    model is ranked first, ``right error`` its standard error.
    """
    off = estimates / truth - 1
    right = float((estimates.argmax(axis=1) == truth.argmax()).mean())
    return {
        "bias": float(np.abs(off.mean(axis=0)).mean()),
        "rmse": float(np.sqrt((off**2).mean(axis=0)).mean()),
        "right": right,
        "right error": (right * (1 - right) / len(estimates)) ** 0.5,
    }


@dataclass(frozen=True, eq=False)
class Grid:
    """Estimates by true gamma, positives per user, assumption and form; and the truth of each model by true gamma."""

    trials: Trials
    truth: Mapping[float, Floats]

    @cached_property
    def scores(self) -> dict[Key, dict[str, float]]:
        """By true gamma, positives per user, assumption and form."""
        return {key: score(values, self.truth[key[0]]) for key, values in self.trials.groups.items()}

    @property
    def settings(self) -> list[tuple[float, float]]:
        """All pairs of true gamma and positives per user."""
        return list(product(self.trials.levels("gamma"), self.positives))

    @property
    def positives(self) -> tuple[float, ...]:
        """Positives per user."""
        return self.trials.levels("positives")

    def mean(self, measure: str, form: str, each: Assumption = RIGHT, gamma: float | None = None) -> float:
        """A measure of a form, mean over all settings, or over those of a gamma."""
        settings = [setting for setting in self.settings if gamma in (None, setting[0])]
        return float(np.mean([self.scores[*setting, each, form][measure] for setting in settings]))

    def removed(self, form: str, positives: float, each: Assumption = RIGHT) -> float:
        """Share of AOA's bias that a form removes, mean over gammas; negative if it adds bias."""
        settings = [setting for setting in self.settings if setting[1] == positives]
        biases = [[self.scores[*setting, each, name]["bias"] for name in (form, NAIVE)] for setting in settings]
        return float(np.mean([1 - bias / naive for bias, naive in biases]))

    def best(self, each: Assumption) -> dict[str, int]:
        """In how many settings each form has the least RMSE."""
        counts = dict.fromkeys(FORMS, 0)
        for setting in self.settings:
            counts[min(FORMS, key=lambda form: self.scores[*setting, each, form]["rmse"])] += 1
        return counts

    def worse(self, each: Assumption, form: str) -> int:
        """In how many settings a form's RMSE is above that of AOA."""
        pairs = ([self.scores[*setting, each, name]["rmse"] for name in (form, NAIVE)] for setting in self.settings)
        return sum(error > naive for error, naive in pairs)


def simulate(context: Context) -> Grid:
    """All settings; each gamma has one world, and each number of positives draws of its own."""
    users = context.size(USERS)
    worlds = {
        gamma: World.draw(gamma, users, ITEMS, METRIC, context.rng("forms", "world", f"{gamma:g}")) for gamma in GAMMAS
    }
    groups: dict[Key, Floats] = {}
    for gamma, positives in context.counted("settings", list(product(GAMMAS, POSITIVES))):
        rng = context.rng("forms", f"{gamma:g}", f"{positives:g}")
        estimates = worlds[gamma].estimates(positives, ASSUMPTIONS, context.size(DRAWS), rng)
        groups |= {(gamma, positives, *key): values for key, values in estimates.items()}
    trials = Trials(("gamma", "positives", "assumption", "form"), "draw, model", groups)
    return Grid(trials, {gamma: world.truth for gamma, world in worlds.items()})


def run(context: Context) -> Findings:
    """The whole grid; the cells vary one thing at a time."""
    grid = simulate(context)
    how = (
        f"{context.size(USERS):,} users like about a fifth of {ITEMS:,} items; expected training counts span a factor "
        "of 20, and items are liked and observed so that P is proportional to count^((gamma + 1) / 2). Scores of three "
        "models are taste, popularity and noise in different proportions. All users are of one kind, so that the mean "
        f"over users and the mean over pairs are nearly the same. {METRIC}; {context.size(DRAWS)} draws of the test in "
        "each setting, from one world for each gamma; propensities from drawn training counts with smoothing 1 unless "
        "stated otherwise. Bias and RMSE are relative to the truth, mean over the models."
    )
    cells, figures = tuple(_cells(grid)), tuple(_figures(grid))
    return Findings(cells, tuple(claims(grid)), figures, (how, *notes(grid)), trials=grid.trials)


def _cells(grid: Grid) -> Iterator[ReproducedCell]:
    rows = [(BASE_GAMMA, positives, RIGHT) for positives in POSITIVES]
    rows += [(gamma, BASE_POSITIVES, RIGHT) for gamma in GAMMAS if gamma != BASE_GAMMA]
    rows += [(BASE_GAMMA, BASE_POSITIVES, each) for each in ASSUMPTIONS if each != RIGHT]
    for gamma, positives, each in rows:
        row = f"{positives:g} per user, gamma {gamma:g}: {each}"
        for form in FORMS if each == RIGHT else CORRECTED:  # aoa assumes nothing
            for name, title in MEASURES.items():
                yield cell(row, f"{form}: {title}", "none", grid.scores[gamma, positives, each, form][name])


def _figures(grid: Grid) -> Iterator[Figure]:
    def line(form: str, name: str, points: Mapping[float, tuple[float, float, Assumption]]) -> Series:
        scores = [grid.scores[*key, form] for key in points.values()]
        errors = [each.get(f"{name} error", 0.0) for each in scores]
        return Series.of(form, list(points), [each[name] for each in scores], errors, naive=form == NAIVE)

    base, few = f"gamma {BASE_GAMMA:g}", f"{BASE_POSITIVES:g} positives per user"
    axes = [
        (f"{base}, and known", "positives per user in the test", {n: (BASE_GAMMA, n, RIGHT) for n in POSITIVES}),
        (f"{few}, gamma known", "true gamma", {gamma: (gamma, BASE_POSITIVES, RIGHT) for gamma in GAMMAS}),
    ]
    for n in (BASE_POSITIVES, POSITIVES[-1]):
        off = {off: (BASE_GAMMA, n, Assumption(off)) for off in OFF}
        axes.append((f"{base}, {n:g} positives per user", "assumed less true gamma", off))
    note = "Relative to the truth, mean over three models. Bands: 95 % over draws, for the share of right choices."
    for title, label, points in axes:
        panels = tuple(Panel(MEASURES[name], tuple(line(form, name, points) for form in FORMS)) for name in MEASURES)
        yield Figure(title, label, panels, log_x=label.startswith("positives"), note=note)


def notes(grid: Grid) -> Iterator[str]:
    """Conclusions, in sentences."""
    shares = (
        f"by {form} " + ", ".join(f"{_percent(grid.removed(form, n))} ({n:g} per user)" for n in grid.positives)
        for form in CORRECTED
    )
    yield f"Positives per user. Share of AOA's bias that is removed, with the right gamma: {'; '.join(shares)}."
    gammas = grid.trials.levels("gamma")
    biases = ", ".join(f"{_percent(grid.mean('bias', NAIVE, gamma=gamma))} at gamma {gamma:g}" for gamma in gammas)
    yield f"Skew. AOA's bias, as a share of the truth: {biases}."
    for each in ASSUMPTIONS:
        wins = ", ".join(f"{form} {count}" for form, count in grid.best(each).items() if count)
        worse = ", ".join(f"{form} {count}" for form in CORRECTED if (count := grid.worse(each, form))) or "never"
        first = ", ".join(f"{form} {_percent(grid.mean('right', form, each))}" for form in FORMS)
        yield (
            f"{str(each).capitalize()}: least RMSE in {len(grid.settings)} settings: {wins}; above AOA's: {worse}; "
            f"right model first: {first}."
        )
    yield f"In short: {' '.join(_advice(grid))}"


def _advice(grid: Grid) -> Iterator[str]:
    """Advice, from the numbers of this run."""
    near = [each for each in ASSUMPTIONS if each.off is not None and abs(each.off) <= 0.5]
    wins = {form: sum(grid.best(each)[form] for each in near) for form in FORMS}
    winner = max(wins, key=wins.__getitem__)
    yield (
        f"with gamma known to within a half, {winner} has the least RMSE most often ({wins[winner]} of "
        f"{sum(wins.values())} settings)."
    )
    few, many = grid.positives[0], grid.positives[-1]
    yield (
        f"With {few:g} positive per user {USER} leaves {_percent(1 - grid.removed(USER, few))} of AOA's bias, with "
        f"{many:g} it leaves {_percent(1 - grid.removed(USER, many))}."
    )
    lucky = ", ".join(f"{n:g}" for n in grid.positives if grid.removed(USER, n, MOST) > grid.removed(USER, n))
    if lucky:
        yield (
            f"Because it corrects too little, a gamma that is too large by {MOST.off:g} brings it closer to the truth "
            f"with {lucky} positives per user: an error that falls as gamma grows does not show that gamma is right."
        )
    over = grid.best(MOST)
    ahead = max(over, key=over.__getitem__)
    won = f"{over[ahead]} of {len(grid.settings)} settings"
    yield f"With gamma too large by {MOST.off:g}, {ahead} has the least RMSE most often ({won})."
    balanced, pair = (grid.mean("rmse", form) for form in (BALANCED, PAIR))
    yield f"{BALANCED} and {PAIR} are nearly the same: mean RMSE {balanced:.3f} and {pair:.3f} with gamma right."


def claims(grid: Grid) -> Iterator[Claim]:
    """Ours, not the paper's."""
    scores = grid.scores
    ours, published = ([scores[*s, RIGHT, form]["bias"] for s in grid.settings] for form in (PAIR, USER))
    less = sum(np.less(ours, published))
    evidence = f"{less} of {len(ours)} settings; relative bias at most {max(ours):.3f} against {max(published):.3f}"
    yield claim(
        f"With the right gamma {PAIR} is less biased than {USER} in every setting", (less == len(ours), evidence)
    )
    shares = {n: grid.removed(USER, n) for n in grid.positives}
    evidence = ", ".join(f"{_percent(share)} with {n:g} per user" for n, share in shares.items())
    yield claim(
        f"With the right gamma {USER} removes more of AOA's bias, the more positives users have",
        (bool(np.all(np.diff(list(shares.values())) > 0)), evidence),
    )
    few = [setting for setting in grid.settings if setting[1] <= 2]
    gains = sum(scores[*s, HALF_MORE, USER]["bias"] < scores[*s, RIGHT, USER]["bias"] for s in few)
    yield claim(
        f"With one or two positives per user {USER} is less biased with a gamma that is too large by a half than with "
        "the right one",
        (gains == len(few), f"{gains} of {len(few)} settings"),
    )
    naive, pair = (grid.mean("right", form) for form in (NAIVE, PAIR))
    yield claim(
        f"With the right gamma {PAIR} ranks the right model first more often than AOA",
        (pair > naive, f"{_percent(pair)} against {_percent(naive)} of draws, mean over all settings"),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


TABLE = Table("forms", "When each form of the correction helps: a simulation", run)
