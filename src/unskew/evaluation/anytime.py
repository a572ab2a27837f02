"""`Until`: stop an evaluation as soon as its question is decided."""

import re
from dataclasses import dataclass, replace
from typing import Any

from unskew.data.candidates import Sampled
from unskew.display.phrases import few
from unskew.errors import ConfigError, Option, did_you_mean
from unskew.estimators import OVER_ALL_PAIRS, Anytime, Comparison, Delta, Estimate, Estimator, Imputing, student_p
from unskew.evaluation.collecting.growing import GrowingSample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.estimate import Estimated, estimate
from unskew.evaluation.fitting.models import Contenders
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.run import Run
from unskew.metrics import AnyMetric, parse_metric
from unskew.ranking import Ranks

FIRST, GROWTH, NARROWEST = 200, 1.5, 2_000
"""Users of the first look, how much larger each further look is, and where sequences are narrowest."""
DECIDED = "decided"
_WIDTH = re.compile(r"width\s*<\s*([0-9.eE+-]+)")


@dataclass(frozen=True)
class Until:
    """When to stop.

    Parameters
    ----------
    width : float or None
        The interval of every model is narrower than this; None to stop when the best model is decided.
    metric : AnyMetric
    estimator : Estimator
        The rule is about this metric by this estimator.
    """

    width: float | None
    metric: AnyMetric
    estimator: Estimator

    @classmethod
    def parse(cls, rule: str, on: str | None, run: Run) -> "Until":
        """From ``decided`` or ``width<0.005``, and ``recall@10:snips``, which must be computed in the run.

        Without `on` it is the first metric, by the first estimator of it that corrects.
        """
        check_run(run)
        settings, width = run.settings, None
        if rule.strip() != DECIDED:
            written = _WIDTH.fullmatch(rule.strip())
            width = _number(written.group(1)) if written else None
            if width is None or not 0 < width < float("inf"):
                hint = did_you_mean(rule, [DECIDED])
                raise ConfigError(f"{Option('until', rule)}: expected decided, or width<0.005{hint}")
        pairs = {f"{metric}:{estimator}": (metric, estimator) for metric, estimator in settings.pairs}
        if on is None:
            metric = settings.metrics[0]
            forms = [estimator for each, estimator in settings.pairs if each is metric]
            return cls(width, metric, next((each for each in forms if each.corrects), forms[0]))
        word, _, form = on.partition(":")
        key = f"{parse_metric(word)}:{Estimator.from_word(form)}" if form else on
        if key not in pairs:
            raise ConfigError(
                f"{Option('on', on)}: this run does not compute it{did_you_mean(key, pairs)}; it has {few(list(pairs))}"
            )
        return cls(width, *pairs[key])

    def __str__(self) -> str:
        return DECIDED if self.width is None else f"width<{self.width:g}"

    @property
    def on(self) -> str:
        """The metric and the estimator, as in ``recall@10:snips``."""
        return f"{self.metric}:{self.estimator}"

    def holds(self, estimates: tuple[Estimate, ...], comparisons: tuple[Comparison, ...], alpha: float) -> bool:
        """Whether the rule holds for estimates and comparisons of its metric and estimator."""
        if any(row.value is None or row.low is None or row.high is None for row in estimates):
            return False
        if self.width is not None:
            return all((row.high or 0.0) - (row.low or 0.0) < self.width for row in estimates)
        best = max(estimates, key=lambda row: row.value or 0.0)
        return all(
            row.p_value_holm is not None and student_p(row.p_value_holm, best.effective_sample_size or 0.0) < alpha
            for row in comparisons
            if best.model in {row.a, row.b}
        )


@dataclass(frozen=True)
class Stop:
    """Where an evaluation stopped: how many test users had been drawn, of how many, and at which look."""

    rule: str
    on: str
    users: int
    of: int
    looks: int
    met: bool

    @property
    def sentence(self) -> str:
        """In words, for the verdict."""
        what = "the best model was decided" if self.rule == DECIDED else f"every interval had a {self.rule}"
        if not self.met:
            opposite = "no best model was decided" if self.rule == DECIDED else f"not every interval has a {self.rule}"
            return f"All {self.of:,} test users were ranked, and {opposite} on {self.on}."
        spared = 1 - self.users / self.of
        return (
            f"Ranking stopped after {self.users:,} of {self.of:,} test users, in random order, when {what} on "
            f"{self.on}; {spared:.0%} of the work was spared. Intervals hold at every stop, and are wider for that."
        )

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {name: getattr(self, name) for name in ("rule", "on", "users", "of", "looks", "met")}


def check_run(run: Run) -> None:
    """Refuse a run that needs all users, or has no confidence sequence."""
    settings, why = run.settings, ""
    imputing = [estimator for estimator in settings.estimators if isinstance(estimator, Imputing)]
    counting = [estimator for estimator in settings.estimators if estimator.counts_empty_users]
    if run.split.exposed or run.split.slice is not None:
        why = "random rows are ranked at once; leave it out"
    elif any(metric.kind in OVER_ALL_PAIRS for metric in settings.metrics):
        why = "metrics over all pairs are about all ratings; name ranking metrics alone"
    elif any(metric.kind == "content" for metric in settings.metrics):
        why = "metrics of what is in the lists need those of all users; name ranking metrics alone"
    elif counting:
        why = f"{counting[0]} counts users without a held-out row as 0; name {Option('estimator', 'snips')}"
    elif imputing:
        why = f"{imputing[0]} sums over the candidates of all users; name {Option('estimator', 'snips')}"
    elif settings.users == "served" or isinstance(run.split.rule, Sampled):
        why = f"it needs the same users for all models, and all candidates; leave out {Option('users', settings.users)}"
        if isinstance(run.split.rule, Sampled):
            why = f"sampled candidates are ranked at once; leave out {Option('candidates', run.split.rule)}"
    elif not isinstance(settings.interval, Delta):
        why = f"it has intervals of its own, so leave out {Option('interval', settings.interval)}"
    if why:
        raise ConfigError(f"{Option('until')}: {why}")


def check_scored(contenders: Contenders, relevant: Any, until: Until) -> None:
    """Refuse models that have been ranked already, a single one to decide on, and counts of relevant items."""
    for name, model in contenders.models.items():
        if isinstance(model.ranker, Ranks) or model.scorer is None:
            raise ConfigError(f"{Option('until')}: model {name!r} gives no scores; saved ranks are of all users")
    if until.width is None and len(contenders.models) < 2:
        raise ConfigError(
            f"{Option('until', DECIDED)} compares models, and there is only one; use {Option('until', 'width<0.01')}"
        )
    if relevant is not None:
        raise ConfigError(f"{Option('until')}: counts of relevant items are of all users; leave them out")


def rank_until(
    run: Run, contenders: Contenders, propensities: Propensities, until: Until, threads: int | None
) -> tuple[Run, Samples, Estimated, Stop]:
    """Rank users in a random order, in batches that grow, until the rule holds.

    Returns the run with the rows of these users alone and with confidence sequences as intervals, and its numbers.
    """
    growing = GrowingSample(run, contenders.models)
    settings = replace(run.settings, interval=Anytime(NARROWEST))
    alone = replace(settings, pairs=((until.metric, until.estimator),))
    users, looks, met = FIRST, 0, False
    while True:
        samples, looks = growing.grow(users), looks + 1
        seen = estimate(alone, samples, propensities, threads, band=False)
        met = until.holds(seen.estimates, seen.comparisons, 1 - settings.level)
        if met or growing.drawn == growing.total:
            break
        users = int(GROWTH * growing.judged)
    split = growing.split
    samples = replace(samples, judged=replace(samples.judged, split=split))
    run = replace(run, split=split, settings=settings)
    stop = Stop(str(until), until.on, growing.drawn, growing.total, looks, met)
    return run, samples, estimate(settings, samples, propensities, threads), stop


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
