"""Judgements made by hand, for tests of measures and targets."""

from collections.abc import Mapping, Sequence

import numpy as np

from unskew.studies.framework.trials import Trials
from unskew.studies.truth.forms import LABELLED, POSITIVE, Form
from unskew.studies.truth.judge import TRUTH, Judged
from unskew.studies.truth.measures import DIMS

SHARE = 0.01
NAIVE, BLEND, SLICED, URE = (
    Form(LABELLED, share, name) for share, name in ((0.0, "naive"), (0.0, "blend"), (SHARE, "blend"), (SHARE, "ure"))
)
AUTO, POSITIVE_AUTO = (Form(given, 0.0, "auto") for given in (LABELLED, POSITIVE))


def judged(values: Mapping[Form, Sequence[float]], half: Mapping[Form, float], signs: Mapping[Form, Sequence[int]]):
    """One metric of three models; forms without a width have intervals of no width, without signs none is clear."""
    forms = (*values, Form(LABELLED, SHARE, TRUTH))
    columns = [*values.values(), values[Form(LABELLED, 0.0, TRUTH)]]
    value = np.array(columns, dtype=float)[:, :, None]
    widths = np.array([half.get(form, 0.0) for form in forms])[:, None, None]
    clear = np.array([signs.get(form, (0, 0, 0)) for form in forms], dtype=float)[:, None, :]
    return Judged(forms, value, value - widths, value + widths, clear)


def trials(**numbers: Mapping[tuple[str, Form], float]) -> Trials:
    """Trials of one log, by measure and then by data set and form."""
    rows = (
        ((data, form, name.replace("_", " ")), value)
        for name, each in numbers.items()
        for (data, form), value in each.items()
    )
    return Trials.collect(DIMS, "log", rows)
