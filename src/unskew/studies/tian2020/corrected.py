"""Beyond the paper: the same question with corrected estimates."""

from collections.abc import Iterator

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020 import corrected_words, words
from unskew.studies.tian2020.goal import Judgement, Reach, judgements
from unskew.studies.tian2020.runs import EXPECTED, WAYS, Runs, all_runs
from unskew.studies.tian2020.sets import NEEDS, SETS, provenance, sets_at_hand

ALL = "all worlds"


def run(context: Context) -> Findings:
    """Every method in every world, and whether it reaches the goal."""
    runs = all_runs(context)
    if not runs:
        return Findings(notes=provenance(context), used=())
    labels = WAYS[EXPECTED].design.labels
    reaches = [Reach.of(runs, label) for label in labels]
    cells = [cell for reach in reaches for cell in _tally(reach)]
    cells += [cell for each in runs for label in labels for cell in _cells(each, label)]
    return Findings(
        tuple(cells),
        words.soften(context, tuple(corrected_words.claims(reaches))),
        notes=(*corrected_words.notes(runs, reaches), words.PANEL, words.how_often(runs), *provenance(context)),
        used=tuple(dict.fromkeys(SETS[data].source for data in sets_at_hand(context))),
    )


def _tally(reach: Reach) -> Iterator[ReproducedCell]:
    """How often a method reaches the goal, counted over worlds and metrics."""
    clear, other = reach.part(clear=True), reach.part(clear=False)
    numbers: dict[str, float | None] = {
        "clear gaps": float(len(clear)),
        "of these right": float(sum(each.reached for each in clear)),
        "other gaps": float(len(other)),
        "of these covered": float(sum(each.reached for each in other)),
        "all covered": float(sum(each.is_covered for each in reach.found)),
        "mean coverage %": 100 * reach.mean_coverage if reach.found else None,
        "lowest coverage %": 100 * min(each.coverage for each in reach.found) if reach.found else None,
        "fewest right %": 100 * min(each.chosen for each in clear) if clear else None,
    }
    for column, value in numbers.items():
        if value is not None:
            yield ReproducedCell(reach.method, column, ALL, None, value)


def _cells(each: Runs, label: str) -> Iterator[ReproducedCell]:
    for found in judgements([each], label):
        oracle = each.summary().cell("oracle", found.pair.metric, label)
        row = f"{each.world}, {words.NAMES[found.pair.metric]}, {label}"
        for column, value in _numbers(found, oracle.bias).items():
            if value is None:
                continue
            yield ReproducedCell(row, column, each.data, None, value, found.pair.spread if column == "bias" else None)


def _numbers(found: Judgement, oracle_bias: float | None) -> dict[str, float | None]:
    pair = found.pair
    return {
        "true gap": pair.true_gap,
        "bias": pair.bias,
        "rmse": pair.rmse,
        "bias of oracle": oracle_bias,
        "covers users %": _percent(pair.coverage),
        "covers population %": _percent(pair.coverage_population),
        "oracle chosen %": _percent(pair.first_chosen),
        "right %": _percent(pair.right_verdict),
        "cannot tell %": _percent(pair.undecided),
        "wrong %": _percent(pair.wrong_verdict),
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


TABLE = Table("corrected", "Beyond the paper: does a corrected estimate tell oracle from popular?", run, needs=NEEDS)
