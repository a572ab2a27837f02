"""How much faster the shortcuts of the studies are than the library: ``python benchmarks/study_roads.py``.

Each road is tested against the main road on random worlds; here both do the same work in one run.
"""

import time
from collections.abc import Callable

import numpy as np

from unskew import Split, evaluate
from unskew.data import Interactions
from unskew.estimators import Aoa, Ips, Rows, Snips, Traditional, Ure
from unskew.metrics import Recall
from unskew.ranking import MatrixScorer, prepare_contest, rank
from unskew.simulators import Lda, draw_observed, relabel
from unskew.studies.schnabel2016.draws import Losses, chances
from unskew.studies.wang2024.fast_ure import FORMS, KS, Draw, Strata
from unskew.studies.wang2024.full_recall import INNER, full_recall, inner_recalls, places
from unskew.studies.wang2024.judge import exposed_sample
from unskew.studies.wang2024.worlds import BiasedLog, LabelledWorld, draw_exposed, draw_log, labelled_pairs
from unskew.trials import Method, run_trial

Road = tuple[str, Callable[[], object], Callable[[], object]]
"""A name, the main road, and the shortcut."""


def sums_by_rating() -> Road:
    """Estimates of ten losses over draws of 943 x 400 cells, from sums by rating (schnabel2016) and from rows."""
    rng = np.random.default_rng(0)
    ratings = relabel(rng.random((943, 400)))
    losses = Losses.of(ratings, ("MAE", "MSE"), rng)
    chance, trials = chances(ratings, 0.25), 5
    order = np.argsort(ratings, axis=None, kind="stable")

    def main() -> None:
        propensity = chance[ratings - 1]
        for trial in range(trials):
            observed = draw_observed(propensity, np.random.default_rng(trial))
            for column in range(len(losses.names)):
                loss = np.empty(ratings.size)
                loss[order] = losses.values[:, column]
                rows = Rows.of_matrix(loss.reshape(ratings.shape), propensity, observed)
                for estimator in (Aoa(per="pair"), Ips(), Snips()):
                    _ = estimator.terms(rows, "loss").value

    def shortcut() -> None:
        draws = losses.draw(chance, trials, np.random.default_rng(0))
        _ = draws.naive(), draws.ips(chance), draws.snips(chance)

    return "schnabel2016: sums by rating", main, shortcut


def trial_of_a_world() -> Road:
    """One simulated evaluation of oracle and popular on a log of 2,000 users (tian2020): a trial, and `evaluate`."""
    world = Lda(users=2000, items=1500, topics=10, likes=100).draw(np.random.default_rng(0))
    metrics, forms = ("recall@50", "adg@50", "auc"), ("snips", "snips(per=balanced)", "snips(per=user)")
    split = Split(world.train, world.test, candidates="trained")

    def main() -> None:
        scores = np.zeros((world.n_users, world.n_items))
        scores[world.truth.users, world.truth.items] = 1.0
        models = {"oracle": MatrixScorer(scores), "popular": "popular"}
        evaluate(models, split, metrics=metrics, estimators=["aoa", *forms], propensity="column", threads=1)
        evaluate(models, Split(world.train, world.truth, candidates="trained"), metrics=metrics, estimators=["aoa"])

    def shortcut() -> None:
        methods = (Method(), *(Method(form, "true") for form in forms))
        run_trial(world, ("oracle", "popular"), metrics=metrics, methods=methods)

    return "tian2020: a trial", main, shortcut


def labelled_log() -> BiasedLog:
    """A log of 600 users and 1,200 items, with a tenth of the pairs positive, and the pairs that models rank."""
    rng = np.random.default_rng(0)
    labels = rng.random((600, 1200)) < 0.1
    world = LabelledWorld("random", labels, np.ones_like(labels), rng.random(1200), 0.0, "")
    return draw_log(world, rng)


def ranks_of_all_candidates() -> Road:
    """The rank of every candidate of a user (wang2024): one sort per user, and counts for each of them by `rank`."""
    log = labelled_log()
    scores = np.random.default_rng(1).random(log.held.shape)
    users, items = np.nonzero(log.held)
    pairs = Interactions.from_arrays(users, items, n_users=log.world.n_users, n_items=log.world.n_items)
    scorer = MatrixScorer(scores)
    contest = prepare_contest({"model": scorer}, Split(pairs, pairs, candidates="listed"))
    return "wang2024: ranks of all candidates", lambda: rank(scorer, contest), lambda: places(scores, log.held)


def recall_at_all_cutoffs() -> Road:
    """Full recall at 100 cut-offs (wang2024): one count, and `Recall` with `Aoa` at each."""
    log, ks = labelled_log(), range(1, 101)
    ranks = places(np.random.default_rng(1).random(log.held.shape), log.held)

    def main() -> None:
        users, items = np.nonzero(log.relevant)
        above, rows = ranks[users, items], Rows(np.empty(0), np.unique(users, return_inverse=True)[1])
        for k in ks:
            gains = (Recall() @ k).row_gains(above, np.zeros_like(above), log.population[users])
            _ = [Aoa(per=per).terms(rows.with_worth(gains), "mean").value for per in ("user", "pair")]

    return "wang2024: recall at 100 cut-offs", main, lambda: full_recall(ranks, log, list(ks))


def recall_inside_a_sample() -> Road:
    """Recall at eight cut-offs inside a sample of 80 items per user (wang2024): counts, and `Traditional`."""
    log = labelled_log()
    ranks = places(np.random.default_rng(1).random(log.held.shape), log.held)
    drawn = draw_exposed(log.held, 80, np.random.default_rng(2))
    test = labelled_pairs(log.world, np.repeat(np.arange(len(drawn)), 80), drawn.ravel())
    split = Split(log.parts.train, test, candidates="all")

    def main() -> None:
        inside = exposed_sample(split, ranks, log.population).inside
        rows = inside.to_rows("mean", Traditional())
        for k in INNER:
            _ = Traditional().terms(rows.with_worth(inside.gains("model", Recall() @ k)), "mean").value

    return "wang2024: recall inside a sample", main, lambda: inner_recalls(ranks, drawn, log, INNER)


def forms_of_ure() -> Road:
    """Six forms of URE at nine cut-offs for two models (wang2024): counts by stratum, and `Ure` for each."""
    log, rng, ks = labelled_log(), np.random.default_rng(1), KS[:9]
    ranks = {f"model {number}": places(rng.random(log.held.shape), log.held) for number in range(2)}
    drawn = draw_exposed(log.held, 80, rng)
    test = labelled_pairs(log.world, np.repeat(np.arange(len(drawn)), 80), drawn.ravel())
    split = Split(log.parts.train, test, candidates="all")
    strata = Strata.of(log, ranks, ks)

    def main() -> None:
        first = exposed_sample(split, ranks["model 0"], log.population).drawn  # fits the prior of ipw once
        for matrix in ranks.values():
            sample = exposed_sample(split, matrix, log.population)
            for k in ks:
                metric = Recall() @ k
                rows = first.with_worth(sample.gains("model", metric), sample.places("model", metric))
                _ = [Ure.from_word(form).terms(rows, "mean").value for form in FORMS]

    def shortcut() -> None:
        draw = Draw.of(strata, drawn)
        _ = [draw.values(model) for model in ranks]

    return "wang2024: forms of URE", main, shortcut


ROADS = (
    sums_by_rating,
    trial_of_a_world,
    ranks_of_all_candidates,
    recall_at_all_cutoffs,
    recall_inside_a_sample,
    forms_of_ure,
)


def timed(job: Callable[[], object]) -> float:
    """Seconds of the faster of two runs, after one to warm up."""
    job()
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Print a line per road."""
    print(f"{'road':<34} {'main s':>8} {'road s':>8} {'ratio':>7}")
    for make in ROADS:
        name, through, shortcut = make()
        slow, fast = timed(through), timed(shortcut)
        print(f"{name:<34} {slow:8.3f} {fast:8.3f} {slow / fast:7.1f}")


if __name__ == "__main__":
    main()
