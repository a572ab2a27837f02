"""Warnings about entries that differ in their seed only."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.display.phrases import counted, few
from unskew.errors import Option
from unskew.evaluation.checking.check import check
from unskew.evaluation.estimating.judged_models import why_not_grouped
from unskew.evaluation.settings.seed_names import base_of

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

ENOUGH = 4  # seeds from which their variance is at least roughly known


@check(
    "seeds-not-grouped",
    what="Entries that differ in their seed only are judged as separate models.",
    why="Their differences are those of seeds, and Holm's correction is over more pairs, so less can be shown.",
    do="Rename the entry that has the name of the model. Seeds are not grouped where data are read part by part, with "
    f"`{Option('users', 'served').flag}` and with `{Option('until').flag}`. If that is what you want, give "
    f"`{Option('no_group_seeds').flag}`.",
)
def seeds_not_grouped(report: "Report") -> Iterator[str]:
    """Yield a warning for models whose seeds are not grouped, although nobody asked for that."""
    if not report.groups_seeds:
        return
    why = why_not_grouped(report)
    seeds = _seeds(report)
    for model, names in seeds.items():
        if model in report.models:
            yield (
                f"{_named(names)} {'is' if len(names) == 1 else 'are'} not grouped, because an entry is called "
                f"{model!r}, as their model would be; rename it"
            )
    if why and any(len(names) > 1 for names in seeds.values()):
        names = next(names for names in seeds.values() if len(names) > 1)
        yield f"{_named(names)} are judged as {len(names)} models, because {why}"


@check(
    "few-seeds",
    what="A model has few seeds.",
    why="Its error over seeds comes from two or three values, so its interval is wide. With one seed that error is not "
    "known at all, and the interval is about that entry alone.",
    do="Train it with four seeds or more.",
)
def few_seeds(report: "Report") -> Iterator[str]:
    """Yield a warning for models with fewer than four seeds, where models are means over seeds."""
    several = report.judged.several
    if not several:
        return
    small = [model for model, names in several.items() if len(names) < ENOUGH]
    if small:
        least, one = min(len(several[model]) for model in small), len(small) == 1
        yield (
            f"{_named(small)} {'has only' if one else 'have as few as'} {least} seeds, so the error over seeds is "
            "hardly known and the interval is wide; train four or more"
        )
    alone = [names[0] for names in report.judged.members.values() if len(names) == 1 and base_of(names[0])]
    alone = [name for name in alone if base_of(name) not in report.models]
    if alone:
        one = len(alone) == 1
        about = "has one seed, so its interval is" if one else "have one seed each, so their intervals are"
        yield f"{_named(alone)} {about} about {'that entry' if one else 'these entries'} alone; train more"


@check(
    "seeds-without-metric",
    what="Not all seeds of a model have a metric.",
    why="The mean is over those that have it, so the metrics of the model are not about the same entries.",
    do="Give the missing scores or predictions.",
)
def seeds_without_metric(report: "Report") -> Iterator[str]:
    """Yield a warning for each model with a metric that some of its seeds do not have."""
    judged: dict[str, set[str]] = {}
    for row in report.estimates:
        judged.setdefault(row.metric, set()).add(row.model)
    for model, names in report.judged.several.items():
        for metric, entries in judged.items():
            lacking = [name for name in names if name not in entries]
            if lacking and len(lacking) < len(names):
                yield (
                    f"{metric} of model {model!r} is over {len(names) - len(lacking)} of "
                    f"{counted(len(names), 'seed')}, because {few(lacking)} cannot be judged by it"
                )


def _seeds(report: "Report") -> dict[str, list[str]]:
    """The entries with a seed, by their model."""
    by_model: dict[str, list[str]] = {}
    for name in report.models:
        base = base_of(name)
        if base is not None:
            by_model.setdefault(base, []).append(name)
    return by_model


def _named(names: list[str]) -> str:
    return f"{'model' if len(names) == 1 else 'models'} {few([repr(name) for name in names])}"
