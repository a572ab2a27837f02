"""Tian and Ekstrand 2020, Estimating Error and Bias in Offline Evaluation Results: worlds whose truth is known."""

from unskew.studies.framework.study import Study
from unskew.studies.tian2020 import corrected, dislikes, feedback, fig2, jester, models, table1, table3
from unskew.studies.tian2020.causes import CAUSES

__all__ = ["STUDY"]

STUDY = Study(
    name="tian2020",
    title="Estimating Error and Bias in Offline Evaluation Results",
    reference=(
        "M. Tian and M. D. Ekstrand (2020). Estimating Error and Bias in Offline Evaluation Results. Proceedings of "
        "the 2020 Conference on Human Information Interaction and Retrieval"
    ),
    tables=(
        table1.TABLE,
        fig2.TABLE,
        table3.TABLE,
        jester.TABLE,
        corrected.TABLE,
        models.TABLE,
        dislikes.TABLE,
        feedback.TABLE,
    ),
    causes=CAUSES,
)
