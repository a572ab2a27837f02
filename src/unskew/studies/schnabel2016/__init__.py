"""Schnabel et al. 2016, Recommendations as Treatments: ratings that users chose to give, and what they hide."""

from unskew.studies.framework.study import Study
from unskew.studies.schnabel2016 import fig1, fig2, fig3, fig4, table1, table2
from unskew.studies.schnabel2016.causes import CAUSES

__all__ = ["STUDY"]

STUDY = Study(
    name="schnabel2016",
    title="Recommendations as Treatments: Debiasing Learning and Evaluation",
    reference=(
        "T. Schnabel, A. Swaminathan, A. Singh, N. Chandak and T. Joachims (2016). Recommendations as Treatments: "
        "Debiasing Learning and Evaluation. Proceedings of the 33rd International Conference on Machine Learning"
    ),
    tables=(table1.TABLE, fig1.TABLE, fig2.TABLE, fig3.TABLE, fig4.TABLE, table2.TABLE),
    causes=CAUSES,
)
