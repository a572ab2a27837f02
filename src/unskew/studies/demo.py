"""Four recommenders in a marketplace whose truth is known, and whom each way of averaging crowns."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from unskew.data import Interactions, Split
from unskew.data.writing import written
from unskew.errors import DataError
from unskew.evaluation import Report, evaluate
from unskew.evaluation.stages import Stage
from unskew.simulators import Marketplace, WorldModel

MODELS: Mapping[str, str] = {
    "popular": "popular",
    "item-knn": "item-knn",
    "svd": "svd(rank=8)",
    "als": "als(factors=8)",
}
METRICS = ("recall@10", "adg@10")
ESTIMATORS = ("aoa", "aoa(per=pair)", "snips", "snips(per=user)")
SHOWN = ("aoa", "snips", "aoa(per=pair)", "snips(per=user)")  # what matters most first, for narrow screens

Per: TypeAlias = Literal["pair", "user"]
_PER_USER = {"aoa", "snips(per=user)"}


@dataclass(frozen=True, eq=False)
class Demo:
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
    report : Report
        From the observed rows alone.
    truth : Report
        The same metrics of the same models, averaged over all relevant items outside train.
    """

    world: WorldModel
    seed: int
    models: Mapping[str, str]
    train: Interactions
    test: Interactions
    report: Report
    truth: Report

    @property
    def metric(self) -> str:
        """The metric the verdict is about."""
        return METRICS[0]

    def true_value(self, model: str, metric: str | None = None, per: Per = "pair") -> float:
        """The true value: a mean over all relevant pairs, or over users of their means."""
        estimator = "aoa(per=pair)" if per == "pair" else "aoa"
        return _number(self.truth.value(model, metric or self.metric, estimator))

    def best(self, metric: str | None = None, per: Per = "pair") -> str:
        """The truly best model."""
        return max(self.models, key=lambda model: self.true_value(model, metric, per))

    def crowned(self, estimator: str, metric: str | None = None) -> str:
        """The model an estimator puts first."""
        return max(self.models, key=lambda model: _number(self.report.value(model, metric or self.metric, estimator)))

    def is_right(self, estimator: str, metric: str | None = None) -> bool:
        """Whether an estimator crowns the best model, by its own way of averaging."""
        return self.crowned(estimator, metric) == self.best(metric, _per(estimator))

    def covered(self, estimator: str, metric: str | None = None) -> int:
        """For how many models the interval holds the truth it aims at."""
        rows = {model: self.report.estimate(model, metric or self.metric, estimator) for model in self.models}
        return sum(
            row.low is not None
            and row.high is not None
            and row.low <= self.true_value(model, metric, _per(estimator)) <= row.high
            for model, row in rows.items()
        )

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """What the numbers say, in sentences."""
        best = self.best()
        return (
            f"In truth {best!r} is best, with a {self.metric} of {self.true_value(best):.4f} over all relevant pairs.",
            self._sentence("aoa", "The naive average (aoa)"),
            self._sentence("snips(per=user)", "The published per-user correction, snips(per=user),"),
            self._sentence("snips", "The correction over all pairs, snips,"),
        )

    def _sentence(self, estimator: str, subject: str) -> str:
        model = self.crowned(estimator)
        judged = "right" if self.is_right(estimator) else "wrong"
        value = _number(self.report.value(model, self.metric, estimator))
        times = value / self.true_value(model, per=_per(estimator))
        size = f"at {value:.4f}, {times:.1f} times its true value"
        held = f"its intervals hold the truth for {self.covered(estimator)} of {len(self.models)} models"
        return f"{subject} crowns {model!r}, the {judged} one, {size}; {held}."

    def command(self, folder: str | Path) -> str:
        """The command line that makes the same report from the written files."""
        place = Path(folder)
        words = ["unskew", "evaluate", "--train", str(place / "train.csv"), "--test", str(place / "test.csv")]
        for name, word in self.models.items():
            words += ["--model", word if name == word else f"{name}={word}"]
        for metric in METRICS:
            words += ["-m", metric]
        for estimator in ESTIMATORS:
            words += ["-e", estimator]
        words += ["--propensity", "column"]
        if self.seed:
            words += ["--seed", str(self.seed)]
        return shlex.join([*words, "--json", str(place / "again.json"), "--html", str(place / "again.html")])

    def to_html(self) -> str:
        """The report's page, opened by what only a simulation can show: the truth."""
        return self.report.to_html(introduction=self._introduction())

    def to_dict(self) -> dict[str, Any]:
        """The truth as plain data."""
        return {
            "world": str(self.world),
            "seed": self.seed,
            "truth": [
                {
                    "model": model,
                    "metric": metric,
                    "relevant pairs": self.true_value(model, metric),
                    "relevant items, mean over users": self.true_value(model, metric, "user"),
                }
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
            "truth.json": json.dumps(self.to_dict(), indent=2) + "\n",
        }
        make_folder(place)
        for name, text in texts.items():
            with written(place / name) as stream:
                stream.write(text)
        roles = ("train", "test", "report", "json", "truth")
        return {role: place / name for role, name in zip(roles, texts, strict=True)}

    def _introduction(self) -> str:
        from jinja2 import Environment, PackageLoader

        environment = Environment(
            loader=PackageLoader("unskew.studies"), autoescape=True, trim_blocks=True, lstrip_blocks=True
        )
        return environment.get_template("demo.html.j2").render(demo=self, metrics=METRICS, estimators=SHOWN)


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
    report = evaluate(
        MODELS,
        Split(train, test),
        metrics=METRICS,
        estimators=ESTIMATORS,
        propensity="column",
        users="common",  # a model that only trains cannot be right about users without a training row
        seed=seed,
        threads=threads,
        progress=progress,
    )
    truth = evaluate(
        MODELS,
        Split(train, Interactions.from_frame(drawn.truth.to_polars(), name="truth")),
        metrics=METRICS,
        estimators=["aoa", "aoa(per=pair)"],
        users="common",
        seed=seed,
        threads=threads,
        progress=None if progress is None else lambda stage, done, total: progress(f"truth: {stage}", done, total),
    )
    return Demo(model, seed, dict(MODELS), train, test, report, truth)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot make this folder ({error.strerror}); name another with --out") from error


def _per(estimator: str) -> Per:
    return "user" if estimator in _PER_USER else "pair"


def _number(value: float | None) -> float:
    return np.nan if value is None else value
