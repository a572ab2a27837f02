"""Table 1: estimated MAE and DCG@50 of five predictions, at alpha = .25 over 50 draws of what is observed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.studies.result import Claim, Findings, ReproducedCell
from unskew.studies.schnabel2016.closed_forms import MATRICES, Limit, limit
from unskew.studies.schnabel2016.completion import DATA, World, completed_world
from unskew.studies.schnabel2016.draws import CUTOFF, Losses, chances
from unskew.studies.study import Context, Table

ALPHA = 0.25
TRIALS, FAST_TRIALS = 50, 10
CELLS = 943 * 1682
ESTIMATORS = ("IPS", "SNIPS", "Naive")
SIGMAS = 4.0  # about one false alarm in 16,000 cells

MAE_TRUE = {"REC_ONES": 0.102, "REC_FOURS": 0.026, "ROTATE": 2.579, "SKEWED": 1.306, "COARSENED": 1.320}
MAE_NAIVE = {"REC_ONES": 0.011, "REC_FOURS": 0.173, "ROTATE": 1.168, "SKEWED": 0.912, "COARSENED": 0.387}
MAE_SD = {
    "IPS": {"REC_ONES": 0.007, "REC_FOURS": 0.000, "ROTATE": 0.031, "SKEWED": 0.012, "COARSENED": 0.015},
    "SNIPS": {"REC_ONES": 0.007, "REC_FOURS": 0.000, "ROTATE": 0.012, "SKEWED": 0.009, "COARSENED": 0.005},
}
DCG_TRUE = {"REC_ONES": 30.76, "REC_FOURS": 52.00, "ROTATE": 12.90, "SKEWED": 24.59, "COARSENED": 46.45}
DCG = {  # mean and standard deviation
    "IPS": {
        "REC_ONES": (30.64, 0.75),
        "REC_FOURS": (51.98, 0.41),
        "ROTATE": (13.00, 0.85),
        "SKEWED": (24.55, 0.92),
        "COARSENED": (46.45, 0.53),
    },
    "SNIPS": {
        "REC_ONES": (30.66, 0.74),
        "REC_FOURS": (52.08, 0.58),
        "ROTATE": (12.99, 0.83),
        "SKEWED": (24.58, 0.93),
        "COARSENED": (46.44, 0.70),
    },
    "Naive": {
        "REC_ONES": (153.07, 2.13),
        "REC_FOURS": (313.48, 2.36),
        "ROTATE": (1.38, 0.09),
        "SKEWED": (54.87, 1.03),
        "COARSENED": (293.27, 1.99),
    },
}

_ROUNDING = {"MAE": 0.0005, "DCG": 0.005}  # half of the last digit printed
_SHARES = 5e-6 * 4  # the shares of the ratings are known to five digits, and a loss is at most 4
_FORM = "closed form, from the shares of the ratings alone"
_COMPLETION = "depends on how the ratings were completed, which the paper does not say exactly"
_MEAN_TOLERANCE = "half of the last printed digit, and 4 standard errors of the difference of two means over trials"
_SD_TOLERANCE = "half of the last printed digit, and 4 standard errors, s/sqrt(2(n-1)), of both standard deviations"


@dataclass(frozen=True, eq=False)
class Simulated:
    """What the simulation of a metric gave: a row for each estimator, a column for each prediction."""

    true: Floats
    mean: dict[str, Floats]
    sd: dict[str, Floats]
    exact_sd: dict[str, Floats]
    trials: int


def run(context: Context) -> Findings:
    """The table; without the data only its closed forms."""
    return compute(completed_world(context), context)


def compute(world: World | None, context: Context) -> Findings:
    """The table of a world, or of none."""
    found = None if world is None else simulate(world, context)
    missing = context.absence(DATA) if world is None else ""
    size = CELLS if world is None else world.ratings.size
    cells = [
        cell
        for k, matrix in enumerate(MATRICES)
        for cell in (*_mae_cells(matrix, k, found, missing, size), *_dcg_cells(matrix, k, found, missing))
    ]
    notes = [] if world is None else [world.told]
    return Findings(tuple(cells), tuple(_claims(found, missing)), notes=tuple(notes))


def simulate(world: World, context: Context) -> dict[str, Simulated]:
    """Draw what is observed again and again, and estimate both metrics."""
    trials = context.n_trials(TRIALS, FAST_TRIALS)
    rng = context.rng("table1")
    losses = Losses.of(world.ratings, ("MAE", "DCG"), rng)
    chance = chances(world.ratings, ALPHA)
    draws = losses.draw(chance, trials, rng, context.progress)
    estimates = {"IPS": draws.ips(chance), "SNIPS": draws.snips(chance), "Naive": draws.naive()}
    exact = exact_sds(losses, chance)
    found = {}
    for metric in ("MAE", "DCG"):
        at = losses.columns(metric)
        found[metric] = Simulated(
            losses.truth[at],
            {name: values[:, at].mean(axis=0) for name, values in estimates.items()},
            {name: values[:, at].std(axis=0, ddof=1) for name, values in estimates.items()},
            {name: values[at] for name, values in exact.items()},
            trials,
        )
    return found


def exact_sds(losses: Losses, chance: Floats) -> dict[str, Floats]:
    r"""Standard deviation of each estimate over draws, from all cells; to first order but for IPS.

    Parameters
    ----------
    losses : Losses
    chance : array (5,)
        P of one to five stars.
    """
    cells, first, second = losses.cells[:, None], losses.by_rating(), losses.by_rating(2)
    P = np.where(losses.cells > 0, chance, 1.0)[:, None]
    size, expected = float(losses.cells.sum()), float((cells * P).sum())
    true, naive = first.sum(axis=0) / size, (P * first).sum(axis=0) / expected
    odds = (1 - P) / P
    return {
        "IPS": np.sqrt((odds * second).sum(axis=0)) / size,
        "SNIPS": np.sqrt((odds * (second - 2 * true * first + true**2 * cells)).sum(axis=0)) / size,
        "Naive": np.sqrt((P * (1 - P) * (second - 2 * naive * first + naive**2 * cells)).sum(axis=0)) / expected,
    }


def _mae_cells(
    matrix: str, k: int, simulated: dict[str, Simulated] | None, missing: str, size: int
) -> Iterator[ReproducedCell]:
    found = None if simulated is None else simulated["MAE"]
    form = limit(matrix, "MAE", ALPHA, size)
    noise = SIGMAS * form.sd_prediction
    printed = f"half of the last printed digit{', and 4 standard errors of drawing the prediction' if noise else ''}"
    base = _ROUNDING["MAE"] + _SHARES
    yield ReproducedCell(
        matrix,
        "MAE true",
        DATA,
        MAE_TRUE[matrix],
        None if found is None else float(found.true[k]),
        comparable=True,
        tolerance=base + noise * np.sqrt(2),
        reason=printed,
        note=missing,
    )
    yield _form_cell(matrix, "MAE true", MAE_TRUE[matrix], form.true, base + noise, printed)
    for name in ("IPS", "SNIPS"):
        yield ReproducedCell(
            matrix,
            f"MAE {name}",
            DATA,
            None,
            None if found is None else float(found.mean[name][k]),
            spread=None if found is None else float(found.sd[name][k]),
            note=missing or "judged against the true value by the first claim; its spread in the next cell",
        )
        yield from _sd_cells(matrix, k, name, found, form, missing)
    trials = TRIALS if found is None else found.trials
    error = SIGMAS * form.sd_naive * np.sqrt(1 / TRIALS + 1 / trials)
    drawn = SIGMAS * form.sd_prediction_naive
    yield ReproducedCell(
        matrix,
        "MAE Naive",
        DATA,
        MAE_NAIVE[matrix],
        None if found is None else float(found.mean["Naive"][k]),
        spread=None if found is None else float(found.sd["Naive"][k]),
        comparable=True,
        tolerance=float(base + np.hypot(error, drawn * np.sqrt(2))),
        reason=_MEAN_TOLERANCE,
        note=missing,
    )
    alone = float(base + np.hypot(SIGMAS * form.sd_naive / np.sqrt(TRIALS), drawn))
    reason = "half of the last printed digit, and 4 standard errors of the printed mean over 50 trials"
    yield _form_cell(matrix, "MAE Naive", MAE_NAIVE[matrix], form.naive, alone, reason)


def _sd_cells(
    matrix: str, k: int, name: str, found: Simulated | None, form: Limit, missing: str
) -> Iterator[ReproducedCell]:
    """The printed standard deviation against ours, and against the closed form."""
    sd = form.sd_ips if name == "IPS" else form.sd_snips
    trials = TRIALS if found is None else found.trials
    printed, ours = 1 / (2 * (TRIALS - 1)), 1 / (2 * (trials - 1))
    yield ReproducedCell(
        matrix,
        f"MAE {name}, sd",
        DATA,
        MAE_SD[name][matrix],
        None if found is None else float(found.sd[name][k]),
        comparable=True,
        tolerance=float(_ROUNDING["MAE"] + SIGMAS * sd * np.sqrt(printed + ours)),
        reason=_SD_TOLERANCE,
        note=missing,
    )
    tolerance = float(_ROUNDING["MAE"] + SIGMAS * sd * np.sqrt(printed))
    reason = "half of the last printed digit, and 4 standard errors, s/sqrt(2(n-1)), of the printed standard deviation"
    away = max(abs(sd - MAE_SD[name][matrix]) - _ROUNDING["MAE"], 0) / (sd * np.sqrt(printed))
    far = f"; the printed value is {away:.1f} of its standard errors away" if away > 1.5 else ""
    yield _form_cell(matrix, f"MAE {name}, sd", MAE_SD[name][matrix], sd, tolerance, reason, _FORM + far)


def _form_cell(
    matrix: str, column: str, paper: float, ours: float, tolerance: float, reason: str, note: str = _FORM
) -> ReproducedCell:
    return ReproducedCell(
        matrix,
        f"{column}, closed form",
        "none",
        paper,
        ours,
        comparable=True,
        tolerance=tolerance,
        reason=reason,
        note=note,
    )


def _dcg_cells(matrix: str, k: int, simulated: dict[str, Simulated] | None, missing: str) -> Iterator[ReproducedCell]:
    """DCG@50: only that of ROTATE does not hang on the completion, as all of its top fifty have one star."""
    found = None if simulated is None else simulated["DCG"]
    exact = matrix == "ROTATE"
    note = missing or ("all of the top fifty have one star, whatever the completion" if exact else _COMPLETION)
    yield ReproducedCell(
        matrix,
        f"DCG@{CUTOFF} true",
        DATA,
        DCG_TRUE[matrix],
        None if found is None else float(found.true[k]),
        comparable=exact,
        tolerance=_ROUNDING["DCG"] if exact else None,
        reason="half of the last printed digit" if exact else "",
        note=note,
    )
    for name in ESTIMATORS:
        mean, sd = DCG[name][matrix]
        trials = TRIALS if found is None else found.trials
        error = sd if found is None else float(found.exact_sd[name][k])
        yield ReproducedCell(
            matrix,
            f"DCG@{CUTOFF} {name}",
            DATA,
            mean,
            None if found is None else float(found.mean[name][k]),
            spread=None if found is None else float(found.sd[name][k]),
            comparable=exact,
            tolerance=_ROUNDING["DCG"] + SIGMAS * error * np.sqrt(1 / TRIALS + 1 / trials) if exact else None,
            reason=_MEAN_TOLERANCE if exact else "",
            note=note,
        )
        spread = np.sqrt(1 / (2 * (TRIALS - 1)) + 1 / (2 * (trials - 1)))
        yield ReproducedCell(
            matrix,
            f"DCG@{CUTOFF} {name}, sd",
            DATA,
            sd,
            None if found is None else float(found.sd[name][k]),
            comparable=exact,
            tolerance=_ROUNDING["DCG"] + SIGMAS * error * spread if exact else None,
            reason=_SD_TOLERANCE if exact else "",
            note=note,
        )


def _claims(found: dict[str, Simulated] | None, missing: str) -> Iterator[Claim]:
    """The paper reads three things off the table."""
    unbiased = "The estimates of IPS and SNIPS are within 4 standard errors of the true values"
    far = "The naive average is off by more than its spread explains, for every prediction and both metrics"
    order = "The naive average puts REC_FOURS behind REC_ONES by MAE, though it is better; IPS and SNIPS do not"
    if found is None:
        yield from (Claim(text, None, missing) for text in (unbiased, far, order))
        return
    scores = {
        (metric, name): np.abs(result.mean[name] - result.true) / (result.exact_sd[name] / np.sqrt(result.trials))
        for metric, result in found.items()
        for name in ESTIMATORS
    }
    corrected = {key: float(z.max()) for key, z in scores.items() if key[1] != "Naive"}
    told = ", ".join(f"{metric} {name} {z:.1f}" for (metric, name), z in corrected.items())
    yield Claim(unbiased, max(corrected.values()) <= 4, f"largest distance in standard errors: {told}")
    naive = {metric: float(scores[metric, "Naive"].min()) for metric in found}
    told = ", ".join(f"{metric} {z:.0f}" for metric, z in naive.items())
    yield Claim(far, min(naive.values()) > 4, f"smallest distance in standard errors: {told}")
    mae = found["MAE"]
    values = {"true": mae.true, **mae.mean}
    told = "; ".join(f"{name} {v[0]:.4f} against {v[1]:.4f}" for name, v in values.items())
    right = {name: bool(v[1] < v[0]) for name, v in values.items()}
    holds = right["true"] and right["IPS"] and right["SNIPS"] and not right["Naive"]
    yield Claim(order, holds, f"MAE of REC_ONES against REC_FOURS: {told}")


TABLE = Table("table1", "MAE and DCG@50 of five predictions, true and estimated, alpha = .25", run, needs=(DATA,))
