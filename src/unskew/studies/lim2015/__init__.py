"""Lim et al. 2015, Top-N Recommendation with Missing Implicit Feedback: measures that survive missing data."""

from unskew.studies.framework.study import Study
from unskew.studies.lim2015 import table1, table2, weighted
from unskew.studies.lim2015.causes import CAUSES

__all__ = ["STUDY"]

STUDY = Study(
    name="lim2015",
    title="Top-N Recommendation with Missing Implicit Feedback",
    reference=(
        "D. Lim, J. McAuley and G. Lanckriet (2015). Top-N Recommendation with Missing Implicit Feedback. "
        "Proceedings of the 9th ACM Conference on Recommender Systems"
    ),
    tables=(table1.TABLE, table2.TABLE, weighted.TABLE),
    causes=CAUSES,
)
