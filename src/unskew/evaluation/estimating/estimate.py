"""Stage 3 of an evaluation, `estimate`: all estimates and comparisons of a run."""

from dataclasses import dataclass

from unskew.estimators import Comparison, Estimate
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.gamma_band import GammaBand, measure_band
from unskew.evaluation.estimating.method_band import MethodBand, measure_methods
from unskew.evaluation.estimating.served_users import estimate_served, restrict_to_served
from unskew.evaluation.estimating.slice_report import SliceReport
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.ranking import Engine
from unskew.ranking.engines.threads import single_threaded_blas


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates and comparisons, the sums per user they come from, and the estimates at other gammas."""

    estimates: tuple[Estimate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    cells: tuple[Cell, ...] = ()
    band: GammaBand | None = None
    methods: MethodBand | None = None
    slice_report: SliceReport | None = None


def estimate(
    settings: Settings,
    samples: Samples,
    propensities: Propensities,
    threads: int | None = None,
    *,
    band: bool = True,
    engine: Engine | None = None,
) -> Estimated:
    """Compute every estimate and comparison of the settings; with `band`, weighted ones at every assumed gamma too.

    Draws of a bootstrap are made on `engine`, by default on the threads.
    """
    with single_threaded_blas():  # the order of its sums, and so the last bit, depends on the number of threads
        estimation = Estimation(samples, settings, propensities, threads, engine)
        if settings.users == "served":
            alone = restrict_to_served(estimation)
            cells, estimates, comparisons = estimate_served(estimation, alone)
            estimations = list(alone.values())
        else:
            cells, estimates, comparisons = estimation.run()
            estimations = [estimation]
        measured = measure_band(estimations) if band else None
        if measured is not None:
            estimates = [measured.widen(estimate) for estimate in estimates]
        methods = measure_methods(estimation) if band else None
        if methods is not None:
            estimates = [methods.widen(estimate) for estimate in estimates]
    return Estimated(tuple(estimates), tuple(comparisons), tuple(cells), measured, methods, estimation.slice_report)
