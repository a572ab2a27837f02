"""Worlds of an error audit by hand: how well they fit, and what was found in them."""

from unskew.audit.error.error_audit import METHODS
from unskew.audit.error.matched_world import SEARCHED, Likened
from unskew.audit.error.recommendation import recommend
from unskew.audit.error.result import ErrorAudit, PairRow, ValueRow, WorldResult
from unskew.simulators import Ibp
from unskew.simulators.likeness import STATISTICS

ESTIMATORS = ("aoa", "snips", "snips(per=balanced)", "snips(per=user)")


def likened(kind="ibp-pop", search=0, *, loss=-0.9, off=0.2, floor=0.1, how=SEARCHED, **statistics):
    """A world whose statistics are all `off` nats from the log, but for those that are named (``user_user=2.0``)."""
    named = {name.replace("_", "-"): value for name, value in statistics.items()}
    observe = "popular" if kind.endswith("pop") else "uniform"
    return Likened(
        world=Ibp(users=50, observe=observe, alpha=10 + search),
        kind=kind,
        how=how,
        evaluations=40,
        divergences={name: named.get(name, off) for name in STATISTICS},
        loss=loss if how == SEARCHED else None,
        log_users=50,
        search=search,
        floor=dict.fromkeys(STATISTICS, floor),
    )


def result(kind="ibp-pop", search=0, *, wrong=0.0, errors=None, level=0.1, runs=10, smallest=0.02, why=""):
    """A world in which each estimator has the wrong winner in a share of runs, and an error of the difference."""
    errors = errors or dict.fromkeys(ESTIMATORS, 0.01)
    about = {"runs": runs, "about": "population"}
    values, pairs = [], []
    for each in METHODS:
        what = {"metric": "auc", "estimator": each.estimator, "propensity": each.propensity, **about}
        found = {"truth": level, "bias": 0.0, "error": 0.01, "coverage": 0.95}
        values += [ValueRow(recommender=name, **what, **found) for name in ("oracle", "popular")]
        gaps = {"true_gap": 0.03, "observed": None, "bias": -0.01, "error": errors[each.estimator], "coverage": 0.9}
        rest = {"level": level, "wrong_winner": wrong, "smallest": smallest, **gaps}
        pairs.append(PairRow(a="oracle", b="popular", reference=True, **what, **rest))
    return WorldResult(likened(kind, search), why, runs, 0.9, tuple(values), tuple(pairs))


def audit_of(*worlds):
    """The audit of some worlds."""
    found = recommend(worlds, "auc")
    return ErrorAudit(
        worlds=worlds,
        depth="quick",
        metrics=("auc",),
        model_runs=0,
        level=0.95,
        holdout=0.2,
        recommended=() if found is None else (found,),
    )
