"""Our targets as claims: errors, orders, coverage and wrong signs that estimates should reach."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from unskew.errors import first_of
from unskew.studies.framework.claims import MANY, Claim, Verdict, claim
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.trials import Trials
from unskew.studies.truth.forms import LABELLED, POSITIVE, Form
from unskew.studies.truth.measures import COVERAGE, ERROR, NAIVE_TAU, TAU, WITH_ERROR, mean_of, wrong_share

BLENDS: Mapping[str, str] = MappingProxyType({LABELLED: "blend", POSITIVE: "blend(q=slice)"})
"""The form that targets are about, by what is given of the log."""
AUTO, WORSE = "auto", 1.1
"""The default, and its largest error as a share of the naive average's."""
LOSS, LEAST, MOST, WRONG = 0.05, 0.90, 0.99, 0.02
"""How far tau may be below the naive one; least and largest coverage; largest share of wrong signs with a slice."""
CLEARLY = 2
"""Standard errors over logs from which a mean is clearly outside its bounds; with less, the logs do not decide."""


def blends(trials: Trials, given: str = LABELLED, *, plain: bool = True) -> list[Form]:
    """The blend without a slice, if `plain`, and with each of the slices."""
    shares = sorted({form.share for form in trials.levels("form") if form.share})
    first = [0.0] if plain and given == LABELLED else []
    return [Form(given, share, BLENDS[given]) for share in (*first, *shares)]


def claims(
    trials: Trials, limits: Mapping[float, float], over: Sequence[str] | None = None, *, sampled: bool = False
) -> Iterator[Claim]:
    """All targets of a table.

    Parameters
    ----------
    trials : Trials
        By data set, form and measure.
    limits : mapping
        The largest error by the share of the slice, 0 without one.
    over : sequence of str, optional
        The data sets over which errors are averaged; each by itself by default.
    sampled : bool
        Whether the truth is a sample. Then intervals should hold it when its own error is added to them, and only signs
        of pairs whose true difference is significant can be wrong.
    """
    names = trials.levels("data")
    measure, allowed = (WITH_ERROR, ", whose own error is allowed for,") if sampled else (COVERAGE, "")
    clear = " where the truth is clear" if sampled else ""
    for form in blends(trials):
        if form.share not in limits:
            continue
        limit = limits[form.share]
        where = "on each data set" if over is None else f"on average over {', '.join(over)}"
        text = f"target: the error of {form} is at most {limit:g} of the naive average's {where}"
        yield claim(text, error_verdict(trials, form, limit, names if over is None else over, joint=over is not None))
    yield claim(
        f"target: the error of auto is at most {WORSE:g} of the naive average's everywhere, from labels and from "
        "positives alone",
        auto_verdict(trials, names),
    )
    for given in (LABELLED, POSITIVE):
        called = "" if given == LABELLED else ", from positives alone,"
        forms = blends(trials, given)
        yield claim(
            f"target: tau of {BLENDS[given]}{called} is nowhere below the naive average's minus {LOSS:g}",
            tau_verdict(trials, forms, names),
        )
        sliced = blends(trials, given, plain=False)
        yield claim(
            f"target: with a slice, 95 % intervals of {BLENDS[given]}{called} hold the truth{allowed} in "
            f"{LEAST:.0%} to {MOST:.0%} of cases everywhere",
            coverage_verdict(trials, sliced, names, measure),
        )
        yield claim(
            f"target: with a slice, at most {WRONG:.0%} of the significant differences of {BLENDS[given]}{called} have "
            f"the wrong sign everywhere{clear}",
            wrong_verdict(trials, sliced, names, clear=sampled),
        )
    yield claim(
        "target: without a slice, the share of wrong signs of blend is below the naive average's everywhere",
        below_naive(trials, names),
    )


def error_verdict(trials: Trials, form: Form, limit: float, names: Sequence[str], *, joint: bool) -> Verdict:
    """Whether the error is within its limit, on average or on each data set."""
    errors = {data: mean_of(trials, data, form, ERROR).value for data in names}
    listed = ", ".join(f"{data} {error:.3f}" for data, error in errors.items())
    if not joint:
        return all(error <= limit for error in errors.values()), listed
    mean = sum(errors.values()) / len(errors)
    return mean <= limit, f"mean {mean:.3f}; {listed}"


def auto_verdict(trials: Trials, names: Sequence[str]) -> Verdict:
    """Whether the default is nowhere much worse than the naive average."""
    forms = [Form(given, 0.0, AUTO) for given in (LABELLED, POSITIVE)]
    errors = {f"{data}, {form}": mean_of(trials, data, form, ERROR) for data in names for form in forms}
    return _none_outside(errors, 0.0, WORSE, "errors")


def tau_verdict(trials: Trials, forms: Sequence[Form], names: Sequence[str]) -> Verdict:
    """Whether no order is much worse than the naive one."""
    gaps = {
        f"{data}, {form}": Mean.of(
            trials.values(data=data, form=form, measure=TAU) - trials.values(data=data, form=form, measure=NAIVE_TAU)
        )
        for data in names
        for form in forms
    }
    return _none_outside(gaps, -LOSS, 2.0, "differences of tau from the naive one")


def coverage_verdict(trials: Trials, forms: Sequence[Form], names: Sequence[str], measure: str = COVERAGE) -> Verdict:
    """Whether all coverages are within their bounds.

    If all intervals of a few logs hold the truth, their coverages have no standard error. For a coverage
    that is too large it is therefore at least that of independent cases, one per log, at the bound.
    """
    shares = {}
    for data in names:
        for form in forms:
            mean = mean_of(trials, data, form, measure)
            logs = len(trials.values(data=data, form=form, measure=measure))
            least = (MOST * (1 - MOST) / logs) ** 0.5 if mean.value > MOST and logs > 1 else 0.0
            shares[f"{data}, {form}"] = replace(mean, error=max(mean.error or 0.0, least))
    return _none_outside(shares, LEAST, MOST, "coverages")


def wrong_verdict(trials: Trials, forms: Sequence[Form], names: Sequence[str], *, clear: bool = False) -> Verdict:
    """Whether few significant differences have the wrong sign; with `clear`, of pairs whose truth is significant."""
    shares = {
        f"{data}, {form}": Mean(wrong_share(trials, data, form, clear=clear) or 0.0, None, None)
        for data in names
        for form in forms
    }
    return _none_outside(shares, 0.0, WRONG, "shares")


def below_naive(trials: Trials, names: Sequence[str]) -> Verdict:
    """Whether blend has a lower share of wrong signs than the naive average, or none at all."""
    parts, holds = [], True
    for data in names:
        ours, naive = (
            wrong_share(trials, data, Form(LABELLED, 0.0, name)) or 0.0 for name in (BLENDS[LABELLED], "naive")
        )
        holds &= ours < naive or ours == 0
        parts.append(f"{data} {ours:.1%}, naive {naive:.1%}")
    return holds, "; ".join(parts)


def _none_outside(numbers: Mapping[str, Mean], low: float, high: float, things: str) -> Verdict:
    """Whether all means are within their bounds; not decided if none is outside by more than `CLEARLY`."""
    beyond = {name: max(low - each.value, each.value - high) for name, each in numbers.items()}
    outside = [name for name, distance in beyond.items() if distance > 0]
    clear = [name for name in outside if beyond[name] > CLEARLY * (numbers[name].error or 0.0)]
    values = [each.value for each in numbers.values()]
    listed = first_of([f"{name} {numbers[name].value:.3f}" for name in outside], MANY)
    note = "" if clear or not outside else f", by less than {CLEARLY} standard errors over logs"
    return (False if clear else None if outside else True), (
        f"{len(numbers)} {things} from {min(values):.3f} to {max(values):.3f}; outside: {listed}{note}"
    )
