"""Table 1: estimated MAE and DCG@50 of five predictions, at alpha = .25 over 50 draws of what is observed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import Limits, ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_table
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016.closed_forms import limit
from unskew.studies.schnabel2016.draws import Losses, chances
from unskew.studies.schnabel2016.printed import CELLS, MATRICES, TABLE1, TRIALS

ALPHA = 0.25
DRAWS = Size(TRIALS, 10, trials=True)
CORRECTED, NAIVE = ("IPS", "SNIPS"), "Naive"
SIGMAS = 4.0  # about one false alarm in 16,000 cells

_ROUNDING = {"MAE": 0.0005, "DCG@50": 0.005}  # half of the last digit printed
_SHARES = 5e-6 * 4  # the shares of the ratings are known to five digits, and a loss is at most 4
_HALF = "half of the last printed digit"
_FORM = "closed form, from the shares of the ratings alone"
_COMPLETION = "depends on how the ratings were completed, which the paper does not say exactly"
_MEANS = f"{_HALF}, and 4 standard errors of the difference of two means over trials"
_MEAN = f"{_HALF}, and 4 standard errors of the printed mean over 50 trials"
_SDS = f"{_HALF}, and 4 standard errors, s/sqrt(2(n-1)), of both standard deviations"
_SD = f"{_HALF}, and 4 standard errors, s/sqrt(2(n-1)), of the printed standard deviation"
_JUDGED = "judged against the true value by the first claim; its spread in the next cell"
_CLAIMS = (
    "The estimates of IPS and SNIPS are within 4 standard errors of the true values",
    "The naive average is off by more than its spread explains, for every prediction and both metrics",
    "The naive average puts REC_FOURS behind REC_ONES by MAE, though it is better; IPS and SNIPS do not",
)

NOTHING = Trials(("metric", "estimator", "matrix"), "draw", {})


@dataclass(frozen=True, eq=False)
class Simulated:
    """Estimates over draws of what is observed, next to the truth; empty without the data."""

    estimates: Trials = NOTHING
    truth: Mapping[tuple[str, str], float] = field(default_factory=dict)
    exact_sd: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def trials(self) -> int:
        """Draws of ours; without the data, as many as the paper's."""
        return len(next(iter(self.estimates.groups.values()), range(TRIALS)))

    @property
    def sd_error(self) -> float:
        """The standard error of the difference of two standard deviations, theirs and ours, relative to them."""
        return float(np.sqrt(1 / (2 * (TRIALS - 1)) + 1 / (2 * (self.trials - 1))))

    def sd(self, *key: str) -> float | None:
        """The standard deviation of an estimate over our draws."""
        values = self.estimates.get(*key)
        return None if values is None else Mean.of(values).spread


def simulate(world: World, context: Context) -> Simulated:
    """Draw what is observed again and again, and estimate both metrics."""
    rng = context.rng("table1")
    losses = Losses.of(world.ratings, ("MAE", "DCG"), rng)
    chance = chances(world.ratings, ALPHA)
    draws = losses.draw(chance, context.size(DRAWS), rng, context.progress)
    values = {"IPS": draws.ips(chance), "SNIPS": draws.snips(chance), NAIVE: draws.naive()}
    names = [("MAE" if metric == "MAE" else "DCG@50", matrix) for metric, matrix in losses.names]
    places = {(metric, name, matrix): k for name in values for k, (metric, matrix) in enumerate(names)}
    exact = exact_sds(losses, chance)
    return Simulated(
        replace(NOTHING, groups={key: values[key[1]][:, k] for key, k in places.items()}),
        dict(zip(names, map(float, losses.truth), strict=True)),
        {key: float(exact[key[1]][k]) for key, k in places.items()},
    )


def exact_sds(losses: Losses, chance: Floats) -> dict[str, Floats]:
    r"""Standard deviation of each estimate over draws, from all cells; to first order but for IPS."""
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


def compute(world: World | None, context: Context) -> Findings:
    """The table of a world, or of none."""
    absent = context.absence(DATA) if world is None else ""
    ours = Simulated() if world is None else simulate(world, context)
    size = CELLS if world is None else world.ratings.size
    cells = (
        each
        for matrix in MATRICES
        for each in (*_mae_cells(matrix, ours, size, absent), *_dcg_cells(matrix, ours, absent))
    )
    claims = unjudged(_CLAIMS, absent) if world is None else _claims(ours)
    notes = () if world is None else (world.origin,)
    return Findings(tuple(cells), tuple(claims), notes=notes, trials=ours.estimates)


def _mae_cells(matrix: str, ours: Simulated, size: int, absent: str) -> Iterator[ReproducedCell]:
    """The printed numbers against ours, and against their closed forms."""
    form = limit(matrix, "MAE", ALPHA, size)
    half = _ROUNDING["MAE"]
    base = half + _SHARES

    def pair(
        column: str, value: Floats | float | None, limits: Limits, exact: float, exact_limits: Limits, note: str = _FORM
    ) -> Iterator[ReproducedCell]:
        paper = TABLE1[matrix, column]
        yield cell(matrix, column, DATA, value, paper, limits=limits, note=absent)
        yield cell(matrix, f"{column}, closed form", "none", exact, paper, limits=exact_limits, note=note)

    drawing, drawing_naive = SIGMAS * form.sd_prediction, SIGMAS * form.sd_prediction_naive
    reason = f"{_HALF}{', and 4 standard errors of drawing the prediction' if drawing else ''}"
    limits = (base + drawing * np.sqrt(2), reason)
    yield from pair("MAE true", ours.truth.get(("MAE", matrix)), limits, form.true, (base + drawing, reason))
    printed_error = np.sqrt(1 / (2 * (TRIALS - 1)))
    for name, sd in zip(CORRECTED, (form.sd_ips, form.sd_snips), strict=True):
        yield cell(matrix, f"MAE {name}", DATA, ours.estimates.get("MAE", name, matrix), note=absent or _JUDGED)
        column = f"MAE {name}, sd"
        away = max(abs(sd - TABLE1[matrix, column]) - half, 0) / (sd * printed_error)
        far = f"; the printed value is {away:.1f} of its standard errors away" if away > 1.5 else ""
        limits = (half + SIGMAS * sd * ours.sd_error, _SDS)
        alone = (half + SIGMAS * sd * printed_error, _SD)
        yield from pair(column, ours.sd("MAE", name, matrix), limits, sd, alone, _FORM + far)
    error = SIGMAS * form.sd_naive * np.sqrt(1 / TRIALS + 1 / ours.trials)
    limits = (base + np.hypot(error, drawing_naive * np.sqrt(2)), _MEANS)
    alone = (base + np.hypot(SIGMAS * form.sd_naive / np.sqrt(TRIALS), drawing_naive), _MEAN)
    yield from pair("MAE Naive", ours.estimates.get("MAE", NAIVE, matrix), limits, form.naive, alone)


def _dcg_cells(matrix: str, ours: Simulated, absent: str) -> Iterator[ReproducedCell]:
    """DCG@50: only that of ROTATE does not depend on the completion, because all of its top fifty have one star."""
    exact, half = matrix == "ROTATE", _ROUNDING["DCG@50"]
    note = absent or ("all of the top fifty have one star, whatever the completion" if exact else _COMPLETION)

    def one(column: str, value: Floats | float | None, limits: Limits) -> ReproducedCell:
        return cell(matrix, column, DATA, value, TABLE1[matrix, column], limits=limits if exact else None, note=note)

    yield one("DCG@50 true", ours.truth.get(("DCG@50", matrix)), (half, _HALF))
    for name in (*CORRECTED, NAIVE):
        key = ("DCG@50", name, matrix)
        sd = SIGMAS * ours.exact_sd.get(key, TABLE1[matrix, f"DCG@50 {name}, sd"])
        mean_error = np.sqrt(1 / TRIALS + 1 / ours.trials)
        yield one(f"DCG@50 {name}", ours.estimates.get(*key), (half + sd * mean_error, _MEANS))
        yield one(f"DCG@50 {name}, sd", ours.sd(*key), (half + sd * ours.sd_error, _SDS))


def _claims(ours: Simulated) -> Iterator[Claim]:
    """Three things that the paper reads off the table."""
    unbiased, far, order = _CLAIMS
    scores = {
        (metric, name, matrix): abs(float(values.mean()) - ours.truth[metric, matrix])
        / (ours.exact_sd[metric, name, matrix] / np.sqrt(len(values)))
        for (metric, name, matrix), values in ours.estimates.groups.items()
    }
    metrics = ours.estimates.levels("metric")
    worst = {(m, name): max(scores[m, name, matrix] for matrix in MATRICES) for m in metrics for name in CORRECTED}
    evidence = ", ".join(f"{metric.partition('@')[0]} {name} {z:.1f}" for (metric, name), z in worst.items())
    verdict = max(worst.values()) <= SIGMAS, f"largest distance in standard errors: {evidence}"
    yield claim(unbiased, verdict, needs_full=False)
    least = {metric: min(scores[metric, NAIVE, matrix] for matrix in MATRICES) for metric in metrics}
    evidence = ", ".join(f"{metric.partition('@')[0]} {z:.0f}" for metric, z in least.items())
    verdict = min(least.values()) > SIGMAS, f"smallest distance in standard errors: {evidence}"
    yield claim(far, verdict, needs_full=False)
    ones, fours = (
        {"true": ours.truth["MAE", matrix]}
        | {name: float(ours.estimates["MAE", name, matrix].mean()) for name in (*CORRECTED, NAIVE)}
        for matrix in MATRICES[:2]
    )
    evidence = "; ".join(f"{name} {ones[name]:.4f} against {fours[name]:.4f}" for name in ones)
    holds = all((fours[name] < ones[name]) is (name != NAIVE) for name in ones)
    yield claim(order, (holds, f"MAE of REC_ONES against REC_FOURS: {evidence}"), needs_full=False)


TABLE = completed_table("table1", "MAE and DCG@50 of five predictions, true and estimated, alpha = .25", compute)
