"""Yang et al. 2018, Unbiased Offline Recommender Evaluation: clicks that follow popularity, and what they hide."""

from unskew.studies.framework.study import Study
from unskew.studies.yang2018 import fig2, fig3, fig4, forms, table1, table2, table3
from unskew.studies.yang2018.causes import CAUSES

__all__ = ["STUDY"]

STUDY = Study(
    name="yang2018",
    title="Unbiased Offline Recommender Evaluation for Missing-Not-At-Random Implicit Feedback",
    reference=(
        "L. Yang, Y. Cui, Y. Xuan, C. Wang, S. Belongie and D. Estrin (2018). Unbiased Offline Recommender Evaluation "
        "for Missing-Not-At-Random Implicit Feedback. Proceedings of the 12th ACM Conference on Recommender Systems"
    ),
    tables=(table1.TABLE, fig2.TABLE, fig3.TABLE, table2.TABLE, fig4.TABLE, table3.TABLE, forms.TABLE),
    causes=CAUSES,
)
