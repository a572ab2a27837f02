"""`run_demo`: four models on a simulated log, judged in several ways next to the truth; `Demo`, the result."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from unskew.data import Interactions, Split
from unskew.data.writing import AsJson, saved
from unskew.errors import DataError, Option
from unskew.estimators import Estimate
from unskew.evaluation import Report, evaluate
from unskew.progress import Stage, prefixed
from unskew.simulators import Marketplace, WorldModel

MODELS = {"popular": "popular", "item-knn": "item-knn", "svd": "svd(rank=8)", "als": "als(factors=8)"}
METRICS = ("recall@10", "adg@10")
ESTIMATORS = ("aoa(per=pair)", "snips")
KNOWN = "column"


@dataclass(frozen=True)
class Way:
    """A way to judge the models by the log: its label in tables, its words in a sentence, and how it estimates."""

    label: str
    words: str
    estimator: str
    propensity: str = KNOWN


NAIVE = Way("naive", "the naive average", "aoa(per=pair)")
WAYS = (
    NAIVE,
    Way("popularity", "snips with propensity popularity", "snips", "popularity"),
    Way("gamma=auto", "snips with popularity(gamma=auto)", "snips", "popularity(gamma=auto)"),
    Way("true P", "snips with the true propensities", "snips"),
)
"""All aim at the mean over relevant pairs."""
WHY = (
    "Why popularity misses: it mixes what was shown with what is liked, and no log says in which "
    "proportions. An interval covers chance alone; read the range over what may be assumed too. To narrow it, log how "
    "likely each item was to be shown (a column propensity), or show some items at random"
)


@dataclass(frozen=True, eq=False)
class Demo(AsJson):
    """A simulated log, what a practitioner would report from it, and the truth.

    Parameters
    ----------
    world : WorldModel
    seed : int
        Of the world, and of the models' training.
    models : mapping
        Name to word.
    train, test : Interactions
        As the written files have them.
    reports : mapping
        Word of a propensity to the report made with it, from the observed rows alone.
    truth : Report
        The same metrics of the same models, averaged over all relevant items outside train.
    """

    json_style: ClassVar[Mapping[str, Any]] = {"indent": 2}

    world: WorldModel
    seed: int
    models: Mapping[str, str]
    train: Interactions
    test: Interactions
    reports: Mapping[str, Report]
    truth: Report

    @property
    def metric(self) -> str:
        """The metric the verdict is about."""
        return METRICS[0]

    @property
    def report(self) -> Report:
        """The report with the propensities that the test has."""
        return self.reports[KNOWN]

    def estimate(self, model: str, way: Way, metric: str | None = None) -> Estimate:
        """What a way to judge says of a model."""
        return self.reports[way.propensity].estimate(model, metric or self.metric, way.estimator)

    def true_value(self, model: str, metric: str | None = None) -> float:
        """The true value: the mean over all relevant pairs."""
        return _number(self.truth.value(model, metric or self.metric, "aoa(per=pair)"))

    def best(self, metric: str | None = None) -> str:
        """The truly best model."""
        return max(self.models, key=lambda model: self.true_value(model, metric))

    def first(self, way: Way, metric: str | None = None) -> str:
        """The model that a way to judge puts first."""
        return max(self.models, key=lambda model: _number(self.estimate(model, way, metric).value))

    def is_right(self, way: Way, metric: str | None = None) -> bool:
        """Whether a way to judge puts the best model first."""
        return self.first(way, metric) == self.best(metric)

    def covered(self, way: Way, metric: str | None = None) -> int:
        """For how many models the interval holds the truth."""
        rows = {model: self.estimate(model, way, metric) for model in self.models}
        return sum(_holds(row.low, row.high, self.true_value(model, metric)) for model, row in rows.items())

    def covered_by_range(self, way: Way, metric: str | None = None) -> int | None:
        """For how many models the range over what may be assumed holds the truth; None where nothing is assumed."""
        rows = {model: self.estimate(model, way, metric) for model in self.models}
        if any(row.assumed_low is None for row in rows.values()):
            return None
        return sum(
            _holds(row.assumed_low, row.assumed_high, self.true_value(model, metric)) for model, row in rows.items()
        )

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """What the numbers say, in sentences."""
        best = self.best()
        return (
            f"In truth {best!r} is best, with a {self.metric} of {self.true_value(best):.4f} over all relevant pairs.",
            *map(self._sentence, WAYS),
            f"{WHY} ({Option('exposed', command='evaluate')}).",
        )

    def _sentence(self, way: Way) -> str:
        model, models = self.first(way), len(self.models)
        value = _number(self.estimate(model, way).value)
        size = f"at {value:.4f}, {value / self.true_value(model):.1f} times its true value"
        held = f"its intervals hold the truth for {self.covered(way)} of {models} models"
        ranged = self.covered_by_range(way)
        if ranged is not None:
            held += f", its ranges over what may be assumed for {ranged}"
        text = f"{way.words[0].upper()}{way.words[1:]} puts {model!r} first, {size}; {held}."
        return text if way is NAIVE else f"{text} Its verdict: {self.reports[way.propensity].verdict.sentence}"

    def command(self, folder: str | Path) -> str:
        """The command line that makes the same report from the written files."""
        place = Path(folder)
        options = [Option("train", place / "train.csv"), Option("test", place / "test.csv")]
        options += [Option("model", word if name == word else f"{name}={word}") for name, word in self.models.items()]
        options += [Option("metric", metric) for metric in METRICS]
        options += [Option("estimator", estimator) for estimator in ESTIMATORS]
        options.append(Option("propensity", KNOWN))
        if self.seed:
            options.append(Option("seed", self.seed))
        options += [Option("json", place / "again.json"), Option("html", place / "again.html")]
        words = (word for option in options for word in option.flag.split(" ", 1))
        return shlex.join(["unskew", "evaluate", *words])

    def to_html(self) -> str:
        """The report's page, opened by what only a simulation can show: the truth."""
        from unskew.display.page import render_page

        context = {"demo": self, "metrics": METRICS, "ways": WAYS}
        return self.report.to_html(introduction=render_page("demo.html.j2", "unskew.studies.showing", context))

    def to_dict(self) -> dict[str, Any]:
        """The truth as plain data."""
        return {
            "world": str(self.world),
            "seed": self.seed,
            "truth": [
                {"model": model, "metric": metric, "relevant pairs": self.true_value(model, metric)}
                for metric in METRICS
                for model in self.models
            ],
            "verdict": list(self.verdict),
        }

    def write(self, folder: str | Path) -> dict[str, Path]:
        """Write the log, the report, the page and the truth into a folder, which is made when absent.

        Returns
        -------
        dict
            What is in each file, by its path's role: ``train``, ``test``, ``report``, ``json``, ``truth``.
        """
        place = Path(folder)
        texts = {
            "train.csv": self.train.to_polars().write_csv(),
            "test.csv": self.test.to_polars().write_csv(),
            "report.html": self.to_html(),
            "report.json": self.report.to_json(),
            "truth.json": self.to_json(),
        }
        make_folder(place)
        for name, text in texts.items():
            saved(text, place / name)
        roles = ("train", "test", "report", "json", "truth")
        return {role: place / name for role, name in zip(roles, texts, strict=True)}


def run_demo(
    world: WorldModel | str | None = None, *, seed: int = 0, threads: int | None = None, progress: Stage | None = None
) -> Demo:
    """Draw a world, train four models on its log, judge them by the log and by the truth.

    Parameters
    ----------
    world : WorldModel or str, optional
        ``marketplace`` by default.
    seed : int
    threads : int, optional
        The numbers do not depend on it.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.
    """
    model = WorldModel.from_word(world) if isinstance(world, str) else world or Marketplace()
    drawn = model.draw(rng=seed)
    # the same interactions that a reader of the written files gets: only ids that occur
    train = Interactions.from_frame(drawn.train.to_polars(), name="train.csv")
    test = Interactions.from_frame(drawn.test.to_polars(), name="test.csv")
    judge = partial(evaluate, metrics=METRICS, seed=seed, threads=threads)
    by_log = partial(judge, split=Split(train, test), estimators=ESTIMATORS, progress=progress)
    reports = {KNOWN: by_log(MODELS, propensity=KNOWN)}
    for way in WAYS:
        if way.propensity not in reports:  # ranks do not depend on the propensity
            reports[way.propensity] = by_log(reports[KNOWN].samples.judged.ranks, propensity=way.propensity)
    relevant = Split(train, Interactions.from_frame(drawn.truth.to_polars(), name="truth"))
    truth = judge(MODELS, relevant, estimators=["aoa(per=pair)"], progress=prefixed(progress, "truth"))
    return Demo(model, seed, dict(MODELS), train, test, reports, truth)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{folder}: cannot make this folder ({error.strerror}); name another with {Option('out')}"
        ) from error


def _holds(low: float | None, high: float | None, value: float) -> bool:
    return low is not None and high is not None and low <= value <= high


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
