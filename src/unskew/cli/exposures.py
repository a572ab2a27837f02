"""The command ``unskew exposures``: what a randomly exposed test costs."""

import json as to_json
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.outputs import Outputs
from unskew.cli.screen import screen
from unskew.display.numbers import level as level_text
from unskew.display.numbers import short
from unskew.display.text_table import digits, print_lines, print_words, table, words
from unskew.errors import ConfigError
from unskew.estimators.exposed.planning import LIKENESS, SPREAD, ExposurePlan, share_of


def exposures_command(
    users: Annotated[int, typer.Option(help="How many users have items exposed.")],
    population: Annotated[int, typer.Option(help="How many items each user's are drawn from.")],
    recall: Annotated[float | None, typer.Option(help="Recall@K to expect, among all items.")] = None,
    precision: Annotated[float | None, typer.Option(help="Or precision@K to expect; needs --cutoff.")] = None,
    cutoff: Annotated[int | None, typer.Option(help="K of precision@K.")] = None,
    positive_share: Annotated[float | None, typer.Option(help="Share of the items a user likes; for recall.")] = None,
    positives: Annotated[float | None, typer.Option(help="Or how many items a user likes.")] = None,
    width: Annotated[float | None, typer.Option(help="How many items for an interval of this width?")] = None,
    exposed: Annotated[int | None, typer.Option(help="How wide is the interval with so many items a user?")] = None,
    difference: Annotated[
        float | None, typer.Option(help="How many items to tell two models apart that differ by this?")
    ] = None,
    correlation: Annotated[
        float, typer.Option(help="With --difference: of the two estimates on the same items; 0 is careful.")
    ] = 0.5,
    power: Annotated[float, typer.Option(help="With --difference: how often it is to be found.")] = 0.8,
    spread: Annotated[
        float, typer.Option(help="How much users' shares of positives differ, 1/(a+b+1) of a beta-binomial.")
    ] = SPREAD,
    likeness: Annotated[
        float, typer.Option(help="How alike a user's positives fare: 0 each by itself, 1 all or none.")
    ] = LIKENESS,
    level: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    json: Annotated[Path | None, typer.Option(help="Write JSON here; - for stdout, in the place of the text.")] = None,
) -> None:
    """Items to expose at random to each user for an interval of a given width, or to tell two models apart."""
    if width is None and exposed is None and difference is None:
        raise ConfigError("say what is wanted: --width, --exposed or --difference, as in --width 0.02")
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
    found = []
    if width is not None:
        found.append({"question": "width", "asked": width, **_answer(plan, plan.needed(width))})
    if exposed is not None:
        found.append({"question": "exposed", "asked": exposed, **_answer(plan, exposed)})
    if difference is not None:
        needed = plan.needed_to_tell(difference, correlation=correlation, power=power)
        more = {"correlation": correlation, "power": power}
        found.append({"question": "difference", "asked": difference, **more, **_answer(plan, needed)})
    _write(plan, found, json)


def _value(recall: float | None, precision: float | None, cutoff: int | None) -> float:
    if (recall is None) == (precision is None):
        raise ConfigError("give what is expected of one metric, as in --recall 0.1 or --precision 0.2 --cutoff 10")
    if recall is not None:
        if cutoff is not None:
            raise ConfigError("--cutoff is for --precision; recall is planned for the K that has the value given")
        return recall
    if cutoff is None:
        raise ConfigError("--precision needs --cutoff, the K of precision@K")
    return float(precision or 0.0)


def _answer(plan: ExposurePlan, exposed: int) -> dict[str, float]:
    drawing, users = plan.variances(exposed)
    return {
        "exposed": exposed,
        "rows": exposed * plan.users,
        "width": plan.width(exposed),
        "std_error": plan.std_error(exposed),
        "share_of_variance_from_users": users / (drawing + users),
    }


def _write(plan: ExposurePlan, found: list[dict[str, Any]], json: Path | None) -> None:
    settings = {name: getattr(plan, name) for name in ("value", "users", "population", "share", "level")}
    document = {
        "metric": plan.metric_word,
        **settings,
        "spread": plan.spread,
        "likeness": plan.likeness,
        "answers": found,
    }
    outputs = Outputs(json)
    outputs.check()
    outputs.write(lambda: to_json.dumps(document, indent=2) + "\n")
    if not outputs.on_screen:
        _print(plan, found)


def _print(plan: ExposurePlan, answers: list[dict[str, Any]]) -> None:
    of_share = "" if plan.share is None else f", {plan.share:.3g} of them positive"
    size = f"{plan.users:,} users, {plan.population:,} items each{of_share}"
    columns = digits("exposed per user", "rows in all", f"{level_text(plan.level, '%')} interval width")
    rows = [[_question(each), f"{each['exposed']:,}", f"{each['rows']:,}", short(each["width"])] for each in answers]
    least = short(plan.width(plan.population))
    console = screen(100)
    print_lines([f"{plan.metric_word} near {plan.value:g}; {size}"], console)
    print_words(table(None, [*words("asked"), *columns], rows), console)
    print_lines(
        [f"All {plan.population:,} items of each user give {least}: that much comes from the users alone."], console
    )


def _question(answer: dict[str, Any]) -> str:
    if answer["question"] == "difference":
        return f"difference {answer['asked']:g} (power {answer['power']:.0%}, correlation {answer['correlation']:g})"
    return f"width {answer['asked']:g}" if answer["question"] == "width" else f"{answer['asked']:,} items per user"
