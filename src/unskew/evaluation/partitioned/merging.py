"""`Merged`: the sums of all parts, and the estimates and the report that come from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from unskew.estimators import OVER_ALL_PAIRS, Bootstrap, Comparison, Estimate, Estimator, Moments, holm, normal_quantile
from unskew.estimators.intervals import Bounds, around, p_value, quantiles
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.estimate import Estimated
from unskew.evaluation.estimating.gamma_band import Bounded, make_band
from unskew.evaluation.estimating.naive_twin import missing_pairs
from unskew.evaluation.estimating.propensity_sum import diagnose_sums, is_diagnosed
from unskew.evaluation.estimating.tally import Tally
from unskew.evaluation.estimating.weight_error import factor_of
from unskew.evaluation.partitioned.counting import joint_digest
from unskew.evaluation.partitioned.reduction import Arrays, Reduction, band_name, cell_name, join_arrays
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric, RatingLoss
from unskew.propensities import Diagnostics, InverseSums


@dataclass(frozen=True, eq=False)
class Merged:
    """The sums of all parts of a run.

    Parameters
    ----------
    settings : Settings
    reduction : Reduction
        Its arrays and tally are those of all parts.
    data : mapping
        Numbers of rows and fingerprints of train and test.
    digests : mapping
        Fingerprints of ranks and predictions of each model.
    """

    settings: Settings
    reduction: Reduction
    data: Mapping[str, Any]
    digests: Mapping[str, Mapping[str, str]]

    @classmethod
    def join(cls, settings: Settings, parts: Sequence[Reduction], data: Mapping[str, Any]) -> "Merged":
        """Add up the reductions of all parts, in their order."""
        full = [part for part in parts if part.arrays]
        first = full[0]
        common = None
        if any(part.common is not None for part in full):
            common = join_arrays([part.arrays if part.common is None else part.common for part in full])
        whole = replace(
            first,
            tally=Tally.join([part.tally for part in parts]),
            arrays=join_arrays([part.arrays for part in full]),
            common=common,
            common_tally=Tally.join([part.common_tally or part.tally for part in parts]),
            inverses=InverseSums.join([part.inverses for part in parts]),
        )
        digests = {
            kind: {name: joint_digest(part.digests[kind][name] for part in full) for name in names}
            for kind, names in first.digests.items()
        }
        return cls(settings, whole, data, digests)

    @property
    def tally(self) -> Tally:
        """Numbers of rows, users and items."""
        return self.reduction.tally

    @property
    def arrays(self) -> Arrays:
        """The sums."""
        return self.reduction.arrays

    def on_common_users(self) -> "Merged | None":
        """The sums of the users whom all models know; None if these are all users, or none."""
        whole, tally = self.reduction, self.reduction.common_tally
        pairs = tuple(pair for pair in self.settings.pairs if pair[0].kind not in OVER_ALL_PAIRS)
        if whole.common is None or tally is None or not tally.rows or not pairs or self.settings.users != "any":
            return None
        settings = replace(self.settings, pairs=pairs, users="common")
        band = [key for key in whole.band if any(str(metric) == key[0] for metric, _ in pairs)]
        return replace(
            self, settings=settings, reduction=replace(whole, arrays=whole.common, common=None, tally=tally, band=band)
        )

    @property
    def diagnostics(self) -> Diagnostics | None:
        """Diagnostics of the propensities; None if no estimate uses them, or if they are all the same."""
        return diagnose_sums(self.reduction.inverses) if is_diagnosed(self.settings) else None

    def estimated(self) -> Estimated:
        """All estimates and comparisons, with their range over gammas."""
        cells, estimates, comparisons = self._cells(self.settings.pairs)
        band = make_band(self.settings, None, {key: self._bounded(*key) for key in self.reduction.band})
        if band is not None:
            estimates = [band.widen(estimate) for estimate in estimates]
        return Estimated(tuple(estimates), tuple(comparisons), tuple(cells), band)

    def twins(self) -> Estimated:
        """The naive twins of corrected estimates that were not asked for."""
        cells, estimates, comparisons = self._cells(missing_pairs(self.settings))
        return Estimated(tuple(estimates), tuple(comparisons), tuple(cells))

    def chance(self, metric: AnyMetric, estimator: Estimator) -> float | None:
        """The value of a random order, if it is known."""
        sums = self.arrays.get(f"{cell_name(metric, estimator)}/chance")
        return None if sums is None or sums[1] <= 0 else float(sums[0] / sums[1])

    def knows_flips(self, metric: AnyMetric, estimator: Estimator) -> bool:
        """Whether the factor by which weights may be wrong is known; for a mean of ratios it is not."""
        return f"{cell_name(metric, estimator)}/ahead" in self.arrays

    def flip_factor(self, metric: AnyMetric, estimator: Estimator, first: str, other: str) -> float | None:
        """The smallest factor by which weights must be wrong for a lead to vanish; None if none is large enough."""
        ahead = self.arrays[f"{cell_name(metric, estimator)}/ahead"]
        names = self.reduction.models[str(metric)]
        a, b = names.index(first), names.index(other)
        return factor_of(float(ahead[a, b]), float(ahead[b, a]))

    def _cells(
        self, pairs: Sequence[tuple[AnyMetric, Estimator]]
    ) -> tuple[list[Cell], list[Estimate], list[Comparison]]:
        cells, estimates, comparisons = [], [], list[Comparison]()
        for metric, estimator in pairs:
            name, models = cell_name(metric, estimator), self.reduction.models[str(metric)]
            root = isinstance(metric, RatingLoss) and metric.root
            moments = self._moments(name, root=root)
            cell = self._cell(metric, estimator, name)
            cells.append(cell)
            for place, model in enumerate(models):
                estimates.append(self._estimate(cell, model, moments, place))
            comparisons += self._compared(cell, models, moments)
        return cells, estimates, comparisons

    def _moments(self, name: str, *, root: bool) -> Moments:
        arrays, counts = self.arrays, self.arrays[f"{name}/counts"]
        draws = arrays.get(f"{name}/draws")
        return Moments(int(counts[0]), int(counts[1]), arrays[f"{name}/sums"], arrays[f"{name}/products"], draws, root)

    def _cell(self, metric: AnyMetric, estimator: Estimator, name: str) -> Cell:
        _, _, users, dropped_users, dropped_items, without = map(int, self.arrays[f"{name}/counts"])
        by_user, by_user_squared, rows, rows_squared = map(float, self.arrays[f"{name}/weights"])
        return Cell(
            metric=metric,
            estimator=estimator,
            users=users,
            dropped_users=dropped_users,
            dropped_items=dropped_items,
            without_propensity=without,
            effective_sample_size=by_user**2 / by_user_squared,
            effective_rows=rows**2 / rows_squared,
            max_weight_share=float(self.arrays[f"{name}/largest"][0]) / rows,
            clipped_share=0.0,
            terms={},
        )

    def _bounds(self, moments: Moments, model: int) -> Bounds:
        if isinstance(self.settings.interval, Bootstrap):
            return quantiles(moments.drawn(model), self.settings.level) if moments.users > 1 else (None, None)
        return around(moments.value(model), moments.std_error(model), normal_quantile(self.settings.level))

    def _bounded(self, metric: str, estimator: str, model: str) -> Bounded:
        """Value, low and high of an estimate at each gamma."""
        name, arrays = band_name(metric, estimator, model), self.arrays
        users, idle = map(int, arrays[f"{name}/users"])
        draws = arrays.get(f"{name}/draws")
        root = next(isinstance(m, RatingLoss) and m.root for m in self.settings.metrics if str(m) == metric)
        bounded = []
        for place, (sums, products) in enumerate(zip(arrays[f"{name}/sums"], arrays[f"{name}/products"], strict=True)):
            drawn = None if draws is None else draws[:, 2 * place : 2 * place + 2]
            moments = Moments(users, idle, sums, products, drawn, root)
            bounded.append((moments.value(0), *self._bounds(moments, 0)))
        return bounded

    def _estimate(self, cell: Cell, model: str, moments: Moments, place: int) -> Estimate:
        low, high = self._bounds(moments, place)
        over_all = cell.metric.kind in OVER_ALL_PAIRS
        tied, rows = (self.tally.rated_tied, self.tally.rated) if over_all else (self._tied, self.tally.rows)
        numbers = {"value": moments.value(place), "std_error": moments.std_error(place), "low": low, "high": high}
        definition = self.reduction.definitions[f"{cell.metric}|{model}"]
        share = 0.0 if cell.metric.kind == "loss" else tied[model] / rows
        return cell.estimate(model, definition, self.settings.level, share, **numbers)

    @property
    def _tied(self) -> dict[str, int]:
        return {name: model.tied for name, model in self.tally.models.items()}

    def _compared(self, cell: Cell, models: Sequence[str], moments: Moments) -> list[Comparison]:
        names, level = (str(cell.metric), str(cell.estimator)), self.settings.level
        rows = []
        for a, b in combinations(range(len(models)), 2):
            gap, error = moments.difference(a, b)
            if isinstance(self.settings.interval, Bootstrap):
                low, high = (None, None)
                if moments.users > 1:
                    low, high = quantiles(moments.drawn(a) - moments.drawn(b), level)
            else:
                low, high = around(gap, error, normal_quantile(level))
            rows.append(Comparison(*names, models[a], models[b], gap, low, high, p_value(gap, error), None))
        adjusted = holm({k: row.p_value for k, row in enumerate(rows)})
        return [replace(row, p_value_holm=adjusted[k]) for k, row in enumerate(rows)]
