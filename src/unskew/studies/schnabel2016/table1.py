"""Table 1: estimated MAE and DCG@50 of five predictions, at alpha = .25 over 50 draws of what is observed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import Limits, ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim, none_clear, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_table
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, Mean, clear_signs
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
_FORM = "closed form, from the shares of the ratings alone, because ml-100k is not here"
_COMPLETION = "depends on how the ratings were completed, which the paper does not say exactly"
_MEANS = f"{_HALF}, and 4 standard errors of the difference of two means over trials"
_MEAN = f"{_HALF}, and 4 standard errors of the printed mean over 50 trials"
_SDS = f"{_HALF}, and 4 standard errors, s/sqrt(2(n-1)), of both standard deviations"
_SD = f"{_HALF}, and 4 standard errors, s/sqrt(2(n-1)), of the printed standard deviation"
_SECTION = "Sec. 6.2, Table 1"
_CLAIMS = (
    "IPS and SNIPS match the true MAE and DCG@50 of every prediction",
    "The naive average is severely biased, for every prediction and both metrics",
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
        each for matrix in MATRICES for each in (*_mae_cells(matrix, ours, size), *_dcg_cells(matrix, ours, absent))
    )
    claims = unjudged(_CLAIMS, absent, section=_SECTION) if world is None else _claims(ours)
    notes = () if world is None else (world.origin,)
    return Findings(tuple(cells), tuple(claims), notes=notes, trials=ours.estimates)


def _mae_cells(matrix: str, ours: Simulated, size: int) -> Iterator[ReproducedCell]:
    """The printed numbers against ours, or without the data against their closed forms; each counts once."""
    form = limit(matrix, "MAE", ALPHA, size)
    half = _ROUNDING["MAE"]
    base = half + _SHARES

    def one(
        column: str, value: Floats | float | None, limits: Limits, exact: float, exact_limits: Limits
    ) -> ReproducedCell:
        paper = TABLE1[matrix, column]
        if value is None:
            return cell(matrix, column, "none", exact, paper, limits=exact_limits, note=_FORM)
        return cell(matrix, column, DATA, value, paper, limits=limits)

    drawing, drawing_naive = SIGMAS * form.sd_prediction, SIGMAS * form.sd_prediction_naive
    reason = f"{_HALF}{', and 4 standard errors of drawing the prediction' if drawing else ''}"
    limits = (base + drawing * np.sqrt(2), reason)
    yield one("MAE true", ours.truth.get(("MAE", matrix)), limits, form.true, (base + drawing, reason))
    estimators = {
        "IPS": (form.true, form.sd_ips, drawing),
        "SNIPS": (form.true, form.sd_snips, drawing),
        NAIVE: (form.naive, form.sd_naive, drawing_naive),
    }
    printed_error = np.sqrt(1 / (2 * (TRIALS - 1)))
    for name, (exact, sd, drawn) in estimators.items():
        error = SIGMAS * sd * np.sqrt(1 / TRIALS + 1 / ours.trials)
        limits = (base + np.hypot(error, drawn * np.sqrt(2)), _MEANS)
        alone = (base + np.hypot(SIGMAS * sd / np.sqrt(TRIALS), drawn), _MEAN)
        yield one(f"MAE {name}", ours.estimates.get("MAE", name, matrix), limits, exact, alone)
        limits = (half + SIGMAS * sd * ours.sd_error, _SDS)
        alone = (half + SIGMAS * sd * printed_error, _SD)
        yield one(f"MAE {name}, sd", ours.sd("MAE", name, matrix), limits, sd, alone)


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
    """Three things that the paper reads off the table, each tested over all of its cells together."""
    unbiased, far, order = _CLAIMS
    gaps = {
        key: Gap(float(values.mean()) - ours.truth[key[0], key[2]], ours.exact_sd[key] / np.sqrt(len(values)))
        for key, values in ours.estimates.groups.items()
    }
    corrected = {" ".join(key): gap for key, gap in gaps.items() if key[1] != NAIVE}
    yield claim(unbiased, none_clear(corrected), section=_SECTION, needs_full=False)
    naive = {key: gap for key, gap in gaps.items() if key[1] == NAIVE}
    clear = all(clear_signs(naive).values())
    off = {key: abs(gap.mean) / ours.truth[key[0], key[2]] for key, gap in naive.items()}
    least = min(off, key=lambda key: off[key])
    evidence = (
        f"{len(naive)} mean errors, tested together (Holm); the smallest, relative to the truth, is {off[least]:.0%} "
        f"({least[0]} of {least[2]}, z {naive[least].z:+.0f})"
    )
    yield claim(far, (clear, evidence), section=_SECTION, needs_full=False)
    ones, fours = MATRICES[:2]
    true = ours.truth["MAE", ones] - ours.truth["MAE", fours]
    behind = {
        name: ours.estimates.gap({"matrix": ones}, {"matrix": fours}, metric="MAE", estimator=name)
        for name in (*CORRECTED, NAIVE)
    }
    signs = clear_signs(behind)
    evidence = "; ".join(f"{name} {gap.plus_minus}" for name, gap in behind.items())
    verdict = all(signs[name] == np.sign(true) * (-1 if name == NAIVE else 1) for name in behind)
    evidence = f"MAE of REC_ONES less that of REC_FOURS, paired by draw: true {true:+.4f}; {evidence}"
    yield claim(order, (verdict and true > 0, evidence), section=_SECTION, needs_full=False)


TABLE = completed_table("table1", "MAE and DCG@50 of five predictions, true and estimated, alpha = .25", compute)
