"""A trial is a faster road to what `evaluate` says of the same log; here both are walked on random worlds."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from unskew import Split, evaluate
from unskew.metrics import parse_metric
from unskew.ranking import MatrixScorer
from unskew.simulators import Ibp, Lda, PreferenceWorld, UniformLikes, World
from unskew.trials import Method, run_trial

METRICS = ("recall@5", "adg@5", "auc", "dcg@5", "precision(of=list)@5", "mrr@5")
METHODS = tuple(Method(form, "true") for form in ("ips", "snips", "snips(per=balanced)", "snips(per=user)"))
WORLDS: Mapping[str, PreferenceWorld] = {
    "uniform": UniformLikes(users=60, items=30, likes=12),
    "lda": Lda(users=60, items=40, topics=4, likes=12, sizes="pareto(scale=4, shape=2, upper=12)"),
    "ibp": Ibp(users=60, alpha=15, c=2, sigma=0.4, sizes="pareto(scale=4, shape=2, upper=12)"),
}


def oracle_of(world: World) -> MatrixScorer:
    scores = np.zeros((world.n_users, world.n_items))
    scores[world.truth.users, world.truth.items] = 1.0
    return MatrixScorer(scores)


@pytest.mark.parametrize("model", ["oracle", "popular"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", WORLDS)
def test_estimates_of_a_trial_are_those_of_evaluate(name: str, seed: int, model: str) -> None:
    drawn = WORLDS[name].draw(np.random.default_rng(seed))
    # `evaluate` excludes test rows of items that nobody trained on; in a trial they are misses
    world = replace(drawn, test=drawn.test.take(drawn.train.item_counts[drawn.test.items] > 0))
    trial = run_trial(world, (model,), metrics=METRICS, methods=(Method(), *METHODS), population="all")
    split = Split(world.train, world.test, candidates="trained")
    models = {model: oracle_of(world) if model == "oracle" else model}
    counts = dict(zip(world.train.user_vocabulary.ids.tolist(), world.relevant_counts.tolist(), strict=True))
    for c, method in enumerate(trial.design.methods):
        admitted = [metric for metric in METRICS if method.admits(parse_metric(metric))]
        known = counts if method.estimator == "ips" else None
        report = evaluate(
            models, split, metrics=admitted, estimators=[method.estimator], propensity="column", relevant=known
        )
        for metric in admitted:
            if model == "oracle" and "of=list" in metric:  # lists of an oracle end where nothing liked is left
                continue
            estimate = trial.estimate[0, METRICS.index(metric), c]
            value = report.value(model, metric, method.estimator)
            if method.estimator == "ips":  # a mean over the users that each road counts
                users = (
                    len(counts) if parse_metric(metric).kind == "sum" else sum(count > 0 for count in counts.values())
                )
                estimate, value = estimate * trial.users, value * users
            assert estimate == pytest.approx(value, rel=1e-9), (metric, method.label)
