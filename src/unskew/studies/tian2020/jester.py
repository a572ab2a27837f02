"""Beyond the paper: its question with real likes, those of people who rated all 100 jokes of Jester."""

from collections.abc import Iterator, Mapping
from itertools import product
from math import sqrt

import numpy as np

from unskew.arrays import Floats, offsets_of
from unskew.data.sources.jester import read_complete
from unskew.simulators import Preferences, UniformLikes
from unskew.studies.framework.cache import key_of
from unskew.studies.framework.cells import ReproducedCell, cell, cells
from unskew.studies.framework.claims import Claim, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.tian2020.fig2 import NAMED, PAIR, SENTENCES, Signs, error_of, no_error, shapes
from unskew.studies.tian2020.printed import RECOMMENDERS, SIDES
from unskew.studies.tian2020.runs import NAIVE, kept_runs, some
from unskew.trials import Design, Method, Oracle, Summary, Trial, judge, resolve_recommenders

DATA = "jester"
LIKED = 5.0
"""Jokes rated this or better, from -10 to 10, are liked."""
LENGTH = 10
"""Length of the lists: a tenth of the jokes. The paper's 50 would be half of them."""
METRICS = tuple(
    f"{word}@{LENGTH}" for word in ("precision(of=list)", "recall", "mrr", "ndcg(discount=lenskit, ideal=all)")
)
"""Those of the paper, of shorter lists."""
TITLES: Mapping[str, str] = dict(zip(METRICS, NAMED, strict=True))
UNIFORM, POPULAR = "uniform", "popular"
WORLDS = (UNIFORM, POPULAR)
"""How likes are observed: with equal chances, or in proportion to how many people like a joke."""
SIZES = "pareto(scale=5, shape=1, upper=50)"
RUNS = Size(100, 8, trials=True)
USERS = Size[int | None](None, 500)
DESIGN = Design(RECOMMENDERS, METRICS, (Method(),))
DIMS = ("world", "recommender", "metric", "side")
CLEARLY = 3
"""Standard errors over runs."""
ABOVE = "popular is ranked above the oracle, which is truly better, by none of the metrics"
_WAYS = {UNIFORM: "equal chances", POPULAR: "popularity"}
UNBIASED = "recall is observed without bias, for oracle and popular"


def run(context: Context) -> Findings:
    """Observed and true values, their errors as a figure, and which of the paper's shapes real likes have."""
    likes = likes_of(context)
    if likes is None:
        why = context.absence(DATA)
        places = product(WORLDS, RECOMMENDERS, METRICS, SIDES)
        return Findings(
            tuple(
                cell(f"{w}, {who}", f"{TITLES[metric]}: {side}", DATA, None, note=why)
                for w, who, metric, side in places
            )
        )
    runs = {world: simulate(context, likes, world) for world in WORLDS}
    values = naive_values(runs)
    return Findings(
        (*_cells(values), *_shares(runs)),
        tuple(claims(values)),
        (figure(values),),
        tuple(notes(likes, runs)),
        trials=values,
    )


def likes_of(context: Context) -> Preferences | None:
    """What the people like who rated all jokes; in the small version, those of some of them. None without the data."""
    if context.find(DATA) is None:
        return None

    def read() -> Preferences:
        complete = read_complete(context.place(DATA))
        most = context.size(USERS)
        if most is not None:
            kept = context.rng("tian2020", DATA, "users").permutation(len(complete))[:most]
            complete = complete[np.sort(kept)]
        return preferences(complete)

    return context.once("tian2020 jester likes", read)


def preferences(ratings: Floats) -> Preferences:
    """What is liked, and how much, from ratings of all items by all users; users who like nothing are left out."""
    liked = ratings >= LIKED
    ratings, liked = ratings[liked.any(axis=1)], liked[liked.any(axis=1)]
    items = np.nonzero(liked)[1].astype(np.int32)
    return Preferences(offsets_of(liked.sum(axis=1)), items, liked.shape[1], ratings[liked])


def simulate(context: Context, likes: Preferences, world: str) -> Summary:
    """Judge the three recommenders on many logs that are observed from the same likes."""
    model = UniformLikes(users=likes.n_users, items=likes.n_items, observe=world, sizes=SIZES)  # type: ignore[arg-type]
    named = resolve_recommenders({"oracle": Oracle(graded=True), "popular": "popular", "random": "random"})

    def task(run: int) -> dict[str, Trial]:
        drawn = model.observe_again(likes, context.rng("tian2020", DATA, world, run))
        return {DATA: judge(drawn, named, DESIGN)}

    content = key_of(*(array.tobytes() for array in (likes.offsets, likes.items, likes.strength) if array is not None))
    word = f"{world} {SIZES} of {content}"
    return kept_runs(context, ("runs", DATA, world), word, {DATA: DESIGN}, context.size(RUNS), task)[DATA]


def naive_values(runs: Mapping[str, Summary]) -> Trials:
    """Observed and true values of each run, by the naive average."""
    groups = {}
    for (world, summary), (k, name), (m, metric) in product(runs.items(), enumerate(RECOMMENDERS), enumerate(METRICS)):
        groups[world, name, metric, SIDES[0]] = summary.trials.estimate[:, k, m, 0]
        groups[world, name, metric, SIDES[1]] = summary.trials.truth[:, k, m, 0]
    return Trials(DIMS, "run", groups)


def _cells(values: Trials) -> Iterator[ReproducedCell]:
    def column(metric: str, side: str, **_: str) -> str:
        return f"{TITLES[metric]}: {side}"

    return cells(values, "{world}, {recommender}", column, DATA)


def _shares(runs: Mapping[str, Summary]) -> Iterator[ReproducedCell]:
    """In how many runs the oracle is observed to be at least as good as popular."""
    for (world, summary), metric in product(runs.items(), METRICS):
        share = summary.pair("oracle", "popular", metric, NAIVE).first_chosen or 0.0
        ours = Mean(100 * share, 100 * sqrt(share * (1 - share)), None)
        yield cell(f"{world}, oracle at least as good as popular", TITLES[metric], DATA, ours, note="per cent of runs")


def claims(values: Trials) -> Iterator[Claim]:
    """Whether the paper's sentences about simulated likes hold for real ones; they are ours, as it has no such data."""
    recall = METRICS[1]
    errors = {f"{UNIFORM} {name}": error_of(values, UNIFORM, name, recall) for name in PAIR}
    yield claim(f"Real likes, observed uniformly: {UNBIASED}", no_error(errors))
    differences = shapes(values, (UNIFORM,), (POPULAR,))
    for sentence in SENTENCES:
        signs = Signs.of(differences[sentence])
        yield claim(f"Real likes: {sentence}", (signs.all_above, str(signs)))
    for world in WORLDS:
        wrong, listed = [], []
        for metric in METRICS:
            ours = values.at(world=world, metric=metric)
            seen, true = (ours.gap({"recommender": "oracle"}, {"recommender": "popular"}, side=side) for side in SIDES)
            listed.append(f"{TITLES[metric]} {seen.mean:+.4f} ({true.mean:+.4f})")
            if true.mean > 0 and seen.mean < -CLEARLY * seen.error:
                wrong.append(TITLES[metric])
        evidence = f"above it by: {some(wrong)}; oracle minus popular, observed (true): {', '.join(listed)}"
        yield claim(f"Real likes, observed by {_WAYS[world]}: {ABOVE}", (not wrong, evidence))


def figure(values: Trials) -> Figure:
    """The errors, in one panel per metric."""
    panels = []
    for metric in METRICS:
        series = (
            Series.middle(name, range(len(WORLDS)), [error_of(values, world, name, metric) for world in WORLDS])
            for name in RECOMMENDERS
        )
        panels.append(Panel(f"{TITLES[metric]}, error", tuple(series)))
    note = "Points are means over runs, intervals hold the middle 95 % of the runs."
    title = "Observed minus true metrics on real likes of jokes"
    return Figure(title, "observation", tuple(panels), note=note, categories=WORLDS)


def notes(likes: Preferences, runs: Mapping[str, Summary]) -> Iterator[str]:
    """How it was done."""
    counts = {world: summary.trials for world, summary in runs.items()}
    total = len(next(iter(counts.values())))
    judged = ", ".join(f"{each.users.mean():,.0f} observed by {_WAYS[world]}" for world, each in counts.items())
    shares = likes.popularity / likes.n_users
    yield (
        f"Beyond the paper, so there is no printed number. {likes.n_users:,} people rated all {likes.n_items} jokes "
        f"and like some: a rating of {LIKED:g} or more, from -10 to 10. They like {likes.counts.mean():.1f} jokes on "
        f"average, and a joke is liked by {shares.min():.0%} to {shares.max():.0%} of them. These likes take the place "
        f"of simulated ones. The rest is as in fig2 and table3: profile sizes are {SIZES}, no larger than the number "
        "of likes; likes are observed with equal chances, or in proportion to how many people like a joke; a fifth of "
        "each profile is held out."
    )
    yield (
        f"{total} runs of each, which share the likes and differ in what is observed and held out; people judged per "
        f"run: {judged}. Lists have up to {LENGTH} of {likes.n_items} jokes. The oracle ranks what a person likes "
        "by the rating; all that is liked counts the same. Ties are in expectation."
    )


TABLE = Table("jester", "Beyond the paper: real likes, where every rating is known", run, needs=(DATA,))
