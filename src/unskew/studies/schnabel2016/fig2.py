"""Figure 2: how far off the estimates are as selection grows stronger, on the paper's world and on Jester."""

from collections.abc import Iterator, Sequence

from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, all_above, claim, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_world
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, clear_signs
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016 import jester
from unskew.studies.schnabel2016.closed_forms import limit, rmse_limits
from unskew.studies.schnabel2016.draws import (
    DENSITY,
    PANELS,
    Losses,
    advantages,
    chances,
    relative_errors,
    rmse,
    rmse_figure,
    squared_errors,
)
from unskew.studies.schnabel2016.printed import MATRICES

ALPHAS: Size[tuple[float, ...]] = Size((1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125))
DRAWS = Size(50, 10, trials=True)
NAIVE, IPS, SNIPS = "Naive", "IPS", "SNIPS"
REALISTIC = 0.25
"""The alpha whose observed shares are like those of real ratings."""
DENSITIES = {DATA: DENSITY, jester.DATA: jester.DENSITY}
FACTOR = 10.0
"""An order of magnitude."""
SIGMAS = 4.0

_CURVE = "the paper draws a curve and prints no number"
_FORM = "the reference is a closed form, from the shares of the ratings alone"
_ERROR = "4 standard errors of the RMSE over trials, by the closed form"
_SECTION = "Sec. 6.2, Fig. 2"
_ORDERS = (
    "Over most of the range of alpha, and at alpha = .25, IPS and SNIPS are more accurate than Naive by orders of "
    "magnitude"
)
_BETTER = "Even under the strongest selection IPS and SNIPS are more accurate than Naive: at every alpha below 1"
_REDUCES = "SNIPS reduces the error of the estimated MSE over IPS, at every alpha"
CLAIMS = (_ORDERS, _BETTER, _REDUCES)


def run(context: Context) -> Findings:
    """The figure on both data sets, or on those that are available."""
    worlds = {DATA: completed_world(context), jester.DATA: jester.jester_world(context)}
    return Findings.joined(compute(world, context, data) for data, world in worlds.items())


def compute(world: World | None, context: Context, data: str = DATA) -> Findings:
    """The figure of a world, or of none. What is said about another data set than the paper's is ours."""
    section, prefix = (_SECTION, "") if data == DATA else ("", f"On {data}: ")
    if world is None:
        why = context.absence(data)
        places = [(metric, name, alpha) for alpha in ALPHAS.full for metric in PANELS for name in (NAIVE, IPS, SNIPS)]
        cells = tuple(
            cell(_row(name, metric), f"alpha={alpha:g}", data, None, note=why) for metric, name, alpha in places
        )
        return Findings(cells, unjudged((prefix + text for text in CLAIMS), why, section=section))
    trials = measure(world, context, data)
    alone = trials.at(data=data)
    note = f"{data}: over 5 predictions and {context.size(DRAWS)} trials; bands are 95 % intervals over trials."
    title = f"Root mean squared error of the estimates{'' if data == DATA else f' on {data}'}"
    figure = rmse_figure(alone, title, "alpha (1: no selection)", note)
    cells = tuple(_cells(alone, world.ratings.size, data))
    notes = (world.origin, _rarest(world, alone.levels("alpha"), data, context.size(DENSITIES[data])))
    return Findings(cells, tuple(_claims(alone, section, prefix)), (figure,), notes, trials=trials)


def measure(world: World, context: Context, data: str = DATA) -> Trials:
    """Squared errors of the estimates, one per draw, by data, metric, estimator and alpha."""
    rng = context.rng("fig2", *(() if data == DATA else (data,)))
    losses = Losses.of(world.ratings, ("MSE", "DCG"), rng)
    density, groups = context.size(DENSITIES[data]), {}
    for alpha in context.counted(f"strengths of selection, {data}", context.size(ALPHAS)):
        chance = chances(world.ratings, alpha, density)
        draws = losses.draw(chance, context.size(DRAWS), rng)
        estimates = {NAIVE: draws.naive(), IPS: draws.ips(chance), SNIPS: draws.snips(chance)}
        groups.update({(data, *key): values for key, values in squared_errors(losses, estimates, alpha).items()})
    return Trials(("data", "metric", "estimator", "alpha"), "draw", groups)


def _cells(trials: Trials, size: int, data: str) -> Iterator[ReproducedCell]:
    """The curves as numbers; on the paper's world those of MSE have closed forms."""
    draws = len(next(iter(trials.groups.values())))
    for alpha in trials.levels("alpha"):
        limits = rmse_limits([limit(matrix, "MSE", alpha, size) for matrix in MATRICES], draws)
        for metric in PANELS:
            for name in trials.levels("estimator"):
                place, (root, _) = (_row(name, metric), f"alpha={alpha:g}", data), rmse(trials[metric, name, alpha])
                if data == DATA and metric == "MSE":
                    expected, error = limits[name]
                    allowed, note = (SIGMAS * error, _ERROR), f"{_CURVE}; {_FORM}"
                    yield cell(*place, root, limits=allowed, note=note, reference=expected)
                else:
                    yield cell(*place, root, note=_CURVE)


def _rarest(world: World, alphas: Sequence[float], data: str, density: float) -> str:
    """How few of the rarest ratings a draw has: they decide how accurate IPS and SNIPS are."""
    ones = int((world.ratings == 1).sum())
    counts = [ones * chances(world.ratings, alpha, density)[0] for alpha in alphas]
    expected = (
        f"{count:,.{0 if count > 10 else 1}f} at {alpha:g}" for alpha, count in zip(alphas, counts, strict=True)
    )
    return (
        f"{data}: {density:.0%} of {world.ratings.size:,} cells are observed. Of the {ones:,} ratings of one "
        f"star a draw has on average, by alpha: {', '.join(expected)}."
    )


def _row(name: str, metric: str) -> str:
    return f"{name}, RMSE of {'DCG@50' if metric == 'DCG' else metric}"


def _claims(trials: Trials, section: str, prefix: str) -> Iterator[Claim]:
    alphas = trials.levels("alpha")
    below = [alpha for alpha in alphas if alpha < 1]
    signs = clear_signs(advantages(trials, (IPS, SNIPS), below, FACTOR))
    reached = {
        (metric, name): [alpha for alpha in below if signs[metric, name, alpha] > 0]
        for metric in PANELS
        for name in (IPS, SNIPS)
    }
    most = all(
        2 * len(each) > len(below) and (REALISTIC in each or REALISTIC not in below) for each in reached.values()
    )
    factors = {key: [1 / ratio for ratio in each] for key, each in relative_errors(trials, (IPS, SNIPS), below).items()}
    shown = "; ".join(f"{' '.join(key)} {', '.join(f'{x:.3g}' for x in each)}" for key, each in factors.items())
    at = ", ".join(f"{alpha:g}" for alpha in below)
    counts = ", ".join(f"{' '.join(key)} at {len(each)}" for key, each in reached.items())
    evidence = (
        f"Naive's error divided by theirs, at alpha {at}: {shown}. Clearly more than {FACTOR:g} (Holm), of "
        f"{len(below)} alphas: {counts}"
    )
    yield claim(prefix + _ORDERS, (most, evidence), section=section)
    gaps = advantages(trials, (IPS, SNIPS), below)
    verdict = all_above(gaps), _weakest(gaps, "Naive's squared error less theirs")
    yield claim(prefix + _BETTER, verdict, section=section, needs_full=False)
    reductions = {
        ("MSE", SNIPS, alpha): Gap.of(trials["MSE", IPS, alpha], trials["MSE", SNIPS, alpha]) for alpha in alphas
    }
    verdict = all_above(reductions), _weakest(reductions, "squared error of IPS less that of SNIPS")
    yield claim(prefix + _REDUCES, verdict, section=section, needs_full=False)


def _weakest(gaps: dict[tuple[str, str, float], Gap], what: str) -> str:
    """How many of some gaps are clear, and the least clear of them."""
    signs = list(clear_signs(gaps).values())
    metric, name, alpha = least = min(gaps, key=lambda key: gaps[key].z)
    return (
        f"{what}, paired by draw: clearly above 0 in {signs.count(1)} of {len(gaps)} (Holm), below in "
        f"{signs.count(-1)}; least clear {metric} {name} at alpha {alpha:g}, z {gaps[least].z:+.1f}"
    )


TABLE = Table(
    "fig2", "Error of the estimates of MSE and DCG@50 as selection grows stronger", run, needs=(DATA, jester.DATA)
)
