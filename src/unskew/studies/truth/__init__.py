"""Closer to the truth: every estimator on logs whose pairs have known relevance, simulated and real."""

from unskew.studies.framework.study import Study
from unskew.studies.truth import coat, complete, large, worlds

__all__ = ["STUDY"]

STUDY = Study(
    name="truth",
    title="Closer to the truth: estimates next to known relevance",
    reference="A study of unskew, not of a paper: logs drawn selectively from known relevance, and our targets",
    tables=(worlds.TABLE, large.TABLE, coat.TABLE, complete.KUAIREC_TABLE, complete.JESTER_TABLE),
    of_paper=False,
)
