"""`Scale`: the scale that ratings are declared to be on, and the check that they are."""

import re
from dataclasses import dataclass

import numpy as np

from unskew.data import Interactions, Split
from unskew.errors import ConfigError, DataError, Option

_NUMBER = r"-?\d+(?:\.\d+)?"
_FORM = re.compile(rf"({_NUMBER})-({_NUMBER})(?:/(\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class Scale:
    """Least and largest rating, and the step between ratings where there is one."""

    low: float
    high: float
    step: float | None = None  # ratings are low, low + step, ..., high; any number between them without it

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ConfigError(f"scale {self}: the least rating must be below the largest")
        if self.step is not None and not 0 < self.step <= self.high - self.low:
            raise ConfigError(f"scale {self}: the step must be above 0 and fit between the ends")

    @classmethod
    def parse(cls, text: str) -> "Scale":
        """Read ``1-5``, or ``0.5-5/0.5`` with a step."""
        match = _FORM.fullmatch(text.replace(" ", ""))
        if match is None:
            raise ConfigError(
                f"cannot read the scale {text!r}; write LOW-HIGH or LOW-HIGH/STEP, as in 1-5 or 0.5-5/0.5"
            )
        low, high, step = match.groups()
        return cls(float(low), float(high), None if step is None else float(step))

    def __str__(self) -> str:
        ends = [np.format_float_positional(end, trim="-") for end in (self.low, self.high)]  # to the last digit
        step = "" if self.step is None else f"/{np.format_float_positional(self.step, trim='-')}"
        return "-".join(ends) + step

    def check(self, rows: Interactions) -> None:
        """Refuse ratings that are not on the scale, and name the first one."""
        values = rows.values
        if values is None:
            return
        outside = (values < self.low) | (values > self.high)
        if self.step is not None:
            steps = (values - self.low) / self.step
            outside |= np.abs(steps - np.round(steps)) > 1e-9
        if outside.any():
            row = int(np.argmax(outside))
            user = rows.user_vocabulary.ids[rows.users[row]]
            item = rows.item_vocabulary.ids[rows.items[row]]
            raise DataError(
                f"{rows.name}: rating {values[row]:g} of user {user}, item {item} ({int(outside.sum())} such) is not "
                f"on the scale {self}; correct the rows or declare another {Option('scale')}"
            )


def check_scale(scale: Scale | None, split: Split) -> None:
    """Refuse ratings of a split that are not on the declared scale; labels of exposed rows are not checked."""
    if scale is None:
        return
    for part in (split.train, split.validation, None if split.exposed else split.test):
        if part is not None:
            scale.check(part)
