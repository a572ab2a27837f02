"""`Changes`: the differences between two runs, and how much of them the sizes of the test sets explain."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from unskew.evaluation.estimating.size_effects import sizes_differ

SPREAD = 0.05  # share of users who would need another number of positives, below which two tests have the same sizes
NOT_KNOWN = "{estimates} in both runs{where}; for none of them is it known whether it changed beyond chance."
CHANGED = (
    "{estimates} in both runs{where}; {beyond} of {them} changed by more than chance and the number of positives per "
    "user explain (p below {p:.2g}, without correction for several tests).{rest}"
)
UNTESTED = " For the other {n} it is not known whether they changed beyond chance."
UNTESTED_ONE = " For the other one it is not known whether it changed beyond chance."


@dataclass(frozen=True)
class TestSet:
    """The size of a run's test set, as far as it was judged."""

    __test__ = False  # not for pytest to collect

    users: int  # with a positive
    rows: int  # their positives
    sha256: str  # of the whole test part
    spread: Mapping[int, int] | None = field(default=None, repr=False)  # how many users have how many positives

    @classmethod
    def of(cls, run: Mapping[str, Any], part: str = "judged") -> "TestSet":
        """The test set of a run, from its record: its judged positives, or its rated rows (`part`)."""
        counts = run.get(part, run["judged"])
        spread = counts.get("rows_a_user")
        numbers = None if spread is None else {int(rows): users for rows, users in spread.items()}
        return cls(counts["users"], counts["rows"], run["data"]["test"]["sha256"], numbers)

    @property
    def positives_a_user(self) -> float:
        """Mean number of positives per user."""
        return self.rows / self.users

    def differs_in_size(self, other: "TestSet") -> bool:
        """Whether the numbers of positives per user differ, on average or in their spread."""
        if sizes_differ(self.positives_a_user, other.positives_a_user):
            return True
        if self.spread is None or other.spread is None:
            return False
        numbers = {*self.spread, *other.spread}
        apart = [self.spread.get(n, 0) / self.users - other.spread.get(n, 0) / other.users for n in numbers]
        return sum(map(abs, apart)) / 2 > SPREAD

    def describe(self) -> str:
        """Users, held-out rows and rows per user, in one line."""
        return f"{self.users:,} users, {self.rows:,} held-out rows, {self.positives_a_user:.2f} per user"

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "users": self.users,
            "rows": self.rows,
            "sha256": self.sha256,
            "positives_a_user": self.positives_a_user,
        }


@dataclass(frozen=True)
class Change:
    """One metric of one model by one estimator, in an earlier run and in this one; None for unknown numbers.

    Parameters
    ----------
    model, metric, estimator : str
    before, after : float or None
        The value in the earlier run and in this one.
    difference : float or None
        ``after - before``.
    expected : float or None
        The difference that comes from the number of positives per user: 0 where that number is the same, or where
        the metric is unbiased to missing data.
    rest : float or None
        ``difference - expected``: what the number of positives does not explain.
    low, high, p_value : float or None
        Interval and p-value of the rest, if the errors of the two runs are independent; None for the same test rows.
    """

    model: str
    metric: str
    estimator: str
    before: float | None
    after: float | None
    difference: float | None
    expected: float | None
    rest: float | None
    low: float | None
    high: float | None
    p_value: float | None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Changes:
    """A run compared with an earlier one; printing it shows a table and notes.

    Parameters
    ----------
    before, after : TestSet
    rows : tuple of Change
        The estimates that both runs have, in the order of this one.
    level : float
        Of the intervals.
    same_test, same_train : bool
        Whether the two runs had the same rows in that part.
    same_users : bool or None
        Whether the same users were judged; None if that is not known.
    only_before, only_after : tuple of str
        Estimates (model, metric, estimator) that only one of the runs has.
    notes : tuple of str
        What to know before interpreting the differences.
    file : str or None
        The file of the earlier run; None if it was not read from a file.
    """

    before: TestSet
    after: TestSet
    rows: tuple[Change, ...]
    level: float
    same_test: bool
    same_train: bool
    same_users: bool | None
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    notes: tuple[str, ...]
    file: str | None = None

    def __str__(self) -> str:
        from unskew.display.text_table import plain_text
        from unskew.evaluation.showing.changes_view import print_changes

        return plain_text(lambda console: print_changes(self, console), 120)

    def _repr_html_(self) -> str:
        """What notebooks show: a sentence, a table and notes."""
        from unskew.evaluation.showing.changes_view import changes_html

        return changes_html(self)

    def describe(self) -> str:
        """A sentence on how many estimates changed by more than chance and the number of positives explain."""
        where = "" if self.file is None else f" (the earlier one is {self.file})"
        count = f"{len(self.rows)} estimate{' is' if len(self.rows) == 1 else 's are'}"
        judged = [row.p_value for row in self.rows if row.p_value is not None]
        if not judged:
            return NOT_KNOWN.format(estimates=count, where=where)
        beyond = sum(p < 1 - self.level for p in judged)
        untested = len(self.rows) - len(judged)
        rest = "" if not untested else UNTESTED_ONE if untested == 1 else UNTESTED.format(n=untested)
        them = f"{len(judged)} that can be tested" if untested else "them"
        return CHANGED.format(
            estimates=count, where=where, beyond=beyond or "none", them=them, p=1 - self.level, rest=rest
        )

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON, under ``against``."""
        return {
            "file": self.file,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "same_test": self.same_test,
            "same_train": self.same_train,
            "same_users": self.same_users,
            "level": self.level,
            "changes": [row.to_dict() for row in self.rows],
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
            "notes": list(self.notes),
        }
