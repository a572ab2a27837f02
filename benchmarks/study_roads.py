"""How much faster the shortcuts of the studies are than the library: ``python benchmarks/study_roads.py``.

Each road is tested against the main road on random worlds; here both do the same work in one run.
"""

import time
from collections.abc import Callable

import numpy as np

from unskew import Split, evaluate
from unskew.estimators import Aoa, Ips, Rows, Snips
from unskew.ranking import MatrixScorer
from unskew.simulators import Lda, draw_observed, relabel
from unskew.studies.schnabel2016.draws import Losses, chances
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


ROADS = (sums_by_rating, trial_of_a_world)


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
