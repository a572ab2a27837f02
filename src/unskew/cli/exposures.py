"""The command ``unskew exposures``: it plans the size of a randomly exposed test."""

import json as to_json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.outputs import Outputs
from unskew.cli.screen import screen
from unskew.display.numbers import level as level_text
from unskew.display.numbers import short
from unskew.display.text_table import digits, print_lines, print_table, table, words
from unskew.errors import ConfigError

if TYPE_CHECKING:
    from unskew.estimators import ExposurePlan


def exposures_command(
    users: Annotated[int, typer.Option(help="Number of users in the test.")],
    population: Annotated[int, typer.Option(help="Number of items that each user's are drawn from.")],
    recall: Annotated[float | None, typer.Option(help="Expected recall@K, among all items.")] = None,
    precision: Annotated[
        float | None, typer.Option(help="Expected precision@K, instead of --recall; needs --cutoff.")
    ] = None,
    cutoff: Annotated[int | None, typer.Option(help="K of precision@K.")] = None,
    positive_share: Annotated[
        float | None, typer.Option(help="Share of the items that a user likes; needed for recall.")
    ] = None,
    positives: Annotated[
        float | None, typer.Option(help="Number of items that a user likes, instead of --positive-share.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="Compute the number of items per user for an interval of this width.")
    ] = None,
    exposed: Annotated[
        int | None, typer.Option(help="Compute the width of the interval for this number of items per user.")
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(help="Compute the number of items per user to detect this difference between two models."),
    ] = None,
    correlation: Annotated[
        float,
        typer.Option(help="With --difference: correlation of the two estimates on the same items; 0 is conservative."),
    ] = 0.5,
    power: Annotated[float, typer.Option(help="With --difference: probability of detecting it.")] = 0.8,
    spread: Annotated[
        float, typer.Option(help="How much the share of positives varies between users: 1/(a+b+1) of a beta-binomial.")
    ] = 0.1,
    likeness: Annotated[
        float, typer.Option(help="Correlation of a user's hits: 0 for independent hits, 1 for all or none.")
    ] = 0.05,
    level: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    json: Annotated[Path | None, typer.Option(help="Write JSON to this file; - prints it instead of the text.")] = None,
) -> None:
    """Plan a randomly exposed test: how many items per user it needs.

    The number of items follows from the width of the interval, or from the difference between two models that the
    test must detect.
    """
    if width is None and exposed is None and difference is None:
        raise ConfigError("nothing to compute; give --width, --exposed or --difference, as in --width 0.02")
    from unskew.estimators.exposed.planning import ExposurePlan, share_of

    plan = ExposurePlan(
        users,
        population,
        _value(recall, precision, cutoff),
        share_of(positives, positive_share, population),
        None if precision is None else cutoff,
        spread,
        likeness,
        level,
    )
    answers = []
    if width is not None:
        answers.append({"question": "width", "asked": width, **_answer(plan, plan.needed(width))})
    if exposed is not None:
        answers.append({"question": "exposed", "asked": exposed, **_answer(plan, exposed)})
    if difference is not None:
        needed = plan.needed_to_detect(difference, correlation=correlation, power=power)
        more = {"correlation": correlation, "power": power}
        answers.append({"question": "difference", "asked": difference, **more, **_answer(plan, needed)})
    _write(plan, answers, json)


def _value(recall: float | None, precision: float | None, cutoff: int | None) -> float:
    if (recall is None) == (precision is None):
        raise ConfigError("give the expected value of one metric, as in --recall 0.1 or --precision 0.2 --cutoff 10")
    if recall is not None:
        if cutoff is not None:
            raise ConfigError("--cutoff is for --precision; leave it out with --recall")
        return recall
    if cutoff is None:
        raise ConfigError("--precision needs --cutoff, the K of precision@K")
    return float(precision or 0.0)


def _answer(plan: "ExposurePlan", exposed: int) -> dict[str, float]:
    drawing, users = plan.variances(exposed)
    return {
        "exposed": exposed,
        "rows": exposed * plan.users,
        "width": plan.width(exposed),
        "std_error": plan.std_error(exposed),
        "share_of_variance_from_users": users / (drawing + users),
    }


def _write(plan: "ExposurePlan", answers: list[dict[str, Any]], json: Path | None) -> None:
    settings = {name: getattr(plan, name) for name in ("value", "users", "population", "share", "level")}
    document = {
        "metric": plan.metric_word,
        **settings,
        "spread": plan.spread,
        "likeness": plan.likeness,
        "answers": answers,
    }
    outputs = Outputs(json)
    outputs.check()
    outputs.write(lambda: to_json.dumps(document, indent=2) + "\n")
    if not outputs.on_screen:
        _print(plan, answers)


def _print(plan: "ExposurePlan", answers: list[dict[str, Any]]) -> None:
    of_share = "" if plan.share is None else f", {plan.share:.3g} of them positive"
    size = f"{plan.users:,} users, {plan.population:,} items each{of_share}"
    columns = digits("exposed per user", "rows in all", f"{level_text(plan.level, '%')} interval width")
    rows = [[_question(each), f"{each['exposed']:,}", f"{each['rows']:,}", short(each["width"])] for each in answers]
    least = short(plan.width(plan.population))
    console = screen()
    print_lines([f"{plan.metric_word} near {plan.value:g}; {size}"], console)
    print_table(table(None, [*words("asked"), *columns], rows), console)
    print_lines([f"All {plan.population:,} items of each user give {least}, which is due to the users alone."], console)


def _question(answer: dict[str, Any]) -> str:
    if answer["question"] == "difference":
        return f"difference {answer['asked']:g} (power {answer['power']:.0%}, correlation {answer['correlation']:g})"
    return f"width {answer['asked']:g}" if answer["question"] == "width" else f"{answer['asked']:,} items per user"
