"""What the simulation of the forms says, worked out from its numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unskew.studies.framework.claims import Claim
from unskew.studies.yang2018.forms_trials import FORMS, Assumption, Score

NAIVE, USER, BALANCED, PAIR = FORMS
CORRECTED = (USER, BALANCED, PAIR)
RIGHT = Assumption()


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores of all settings.

    Parameters
    ----------
    scores : mapping
        By true gamma, positives a user, assumption and form.
    gammas, positives : tuple of float
    assumptions : tuple of Assumption
    """

    scores: Mapping[tuple[float, float, Assumption, str], Score]
    gammas: tuple[float, ...]
    positives: tuple[float, ...]
    assumptions: tuple[Assumption, ...]

    @property
    def worlds(self) -> list[tuple[float, float]]:
        """All pairs of true gamma and positives a user."""
        return [(gamma, positives) for gamma in self.gammas for positives in self.positives]

    def removed(self, form: str, positives: float, each: Assumption = RIGHT) -> float:
        """Share of AOA's bias that a form takes away, mean over gammas; negative where it adds to it."""
        pairs = [[self.scores[gamma, positives, each, name].bias for name in (form, NAIVE)] for gamma in self.gammas]
        return float(np.mean([1 - mine / naive for mine, naive in pairs]))

    def naive_bias(self, gamma: float) -> float:
        """AOA's relative bias, mean over positives a user."""
        return float(np.mean([self.scores[gamma, n, RIGHT, NAIVE].bias for n in self.positives]))

    def right(self, form: str, each: Assumption) -> float:
        """How often the right model is put first, mean over all worlds."""
        return float(np.mean([self.scores[*world, each, form].right for world in self.worlds]))

    def best(self, each: Assumption, measure: str = "rmse") -> dict[str, int]:
        """In how many worlds each form has the least error."""
        counts = dict.fromkeys(FORMS, 0)
        for world in self.worlds:
            counts[min(FORMS, key=lambda form: float(getattr(self.scores[*world, each, form], measure)))] += 1
        return counts

    def worse(self, each: Assumption, form: str) -> int:
        """In how many worlds a form's error is above that of AOA."""
        return sum(self.scores[*w, each, form].rmse > self.scores[*w, each, NAIVE].rmse for w in self.worlds)


def notes(grid: Grid) -> Iterator[str]:
    """Conclusions, in sentences."""
    yield (
        "Positives a user. Of AOA's bias, with gamma right, is removed: "
        + "; ".join(
            f"by {form} " + ", ".join(f"{_percent(grid.removed(form, n))} ({n:g} a user)" for n in grid.positives)
            for form in CORRECTED
        )
        + "."
    )
    yield (
        "Skew. AOA's bias, as a share of the truth: "
        + ", ".join(f"{_percent(grid.naive_bias(gamma))} at gamma {gamma:g}" for gamma in grid.gammas)
        + "."
    )
    for each in grid.assumptions:
        yield f"{str(each).capitalize()}: {_verdict(grid, each)}"
    yield f"In short: {' '.join(_advice(grid))}"


def _verdict(grid: Grid, each: Assumption) -> str:
    total = len(grid.worlds)
    wins = ", ".join(f"{form} {count}" for form, count in grid.best(each).items() if count)
    worse = [f"{form} {count}" for form in CORRECTED if (count := grid.worse(each, form))]
    first = ", ".join(f"{form} {_percent(grid.right(form, each))}" for form in FORMS)
    return (
        f"least RMSE in {total} settings: {wins}; above AOA's: {', '.join(worse) if worse else 'never'}; right model "
        f"first: {first}."
    )


def _advice(grid: Grid) -> Iterator[str]:
    """What follows for a user, from the numbers of this run."""
    near = [each for each in grid.assumptions if each.off is not None and abs(each.off) <= 0.5]
    wins = {form: sum(grid.best(each)[form] for each in near) for form in FORMS}
    winner = max(wins, key=wins.__getitem__)
    yield (
        f"with gamma known to within a half, {winner} has the least RMSE most often ({wins[winner]} of "
        f"{sum(wins.values())} settings)."
    )
    few, many = grid.positives[0], grid.positives[-1]
    yield (
        f"With {few:g} positive a user {USER} leaves {_percent(1 - grid.removed(USER, few))} of AOA's bias, with "
        f"{many:g} it leaves {_percent(1 - grid.removed(USER, many))}."
    )
    much = max((each for each in grid.assumptions if each.off is not None), key=lambda each: each.off or 0.0)
    lucky = [n for n in grid.positives if grid.removed(USER, n, much) > grid.removed(USER, n)]
    if lucky:
        yield (
            f"As it corrects too little, a gamma that is too large by {much.off:g} brings it closer to the truth with "
            f"{', '.join(f'{n:g}' for n in lucky)} positives a user: an error that falls as gamma grows is no sign "
            "that gamma is right."
        )
    over = grid.best(much)
    ahead = max(over, key=over.__getitem__)
    won = f"{over[ahead]} of {len(grid.worlds)} settings"
    yield f"With gamma too large by {much.off:g}, {ahead} has the least RMSE most often ({won})."
    balanced, pair = (np.mean([grid.scores[*w, RIGHT, form].rmse for w in grid.worlds]) for form in (BALANCED, PAIR))
    yield f"{BALANCED} and {PAIR} are much alike: mean RMSE {balanced:.3f} and {pair:.3f} with gamma right."


def claims(grid: Grid) -> Iterator[Claim]:
    """Ours, not the paper's."""
    pairs = [(grid.scores[*w, RIGHT, PAIR].bias, grid.scores[*w, RIGHT, USER].bias) for w in grid.worlds]
    yield Claim(
        f"With the right gamma {PAIR} is less biased than {USER} in every setting",
        all(mine < other for mine, other in pairs),
        f"{sum(mine < other for mine, other in pairs)} of {len(pairs)} settings; relative bias at most "
        f"{max(mine for mine, _ in pairs):.3f} against {max(other for _, other in pairs):.3f}",
    )
    shares = [grid.removed(USER, n) for n in grid.positives]
    yield Claim(
        f"With the right gamma {USER} removes more of AOA's bias, the more positives users have",
        bool(np.all(np.diff(shares) > 0)),
        ", ".join(f"{_percent(share)} with {n:g} a user" for share, n in zip(shares, grid.positives, strict=True)),
    )
    half = Assumption(0.5)
    few = [(gamma, n) for gamma, n in grid.worlds if n <= 2]
    gains = [grid.scores[*w, half, USER].bias < grid.scores[*w, RIGHT, USER].bias for w in few]
    yield Claim(
        f"With one or two positives a user a gamma that is too large by a half makes {USER} less biased than the right "
        "one does",
        all(gains),
        f"{sum(gains)} of {len(few)} settings",
    )
    naive, pair = (grid.right(form, RIGHT) for form in (NAIVE, PAIR))
    yield Claim(
        f"With the right gamma {PAIR} puts the right model first more often than AOA",
        pair > naive,
        f"{_percent(pair)} against {_percent(naive)} of draws, mean over all settings",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
