"""Wang et al. 2024: recall over all candidates from randomly exposed data."""

from unskew.studies.framework.study import Study
from unskew.studies.wang2024 import aggregates, experiments, fig1, fig3, fig5, table3, table4
from unskew.studies.wang2024.causes import CAUSES

__all__ = ["STUDY"]

STUDY = Study(
    name="wang2024",
    title="Debias Can be Unreliable: Mitigating Bias Issue in Evaluating Debiasing Recommendation",
    reference=(
        "C. Wang, W. Shi, J. Zhang, W. Wang, H. Pan and F. Feng (2024). Debias Can be Unreliable: Mitigating Bias "
        "Issue in Evaluating Debiasing Recommendation. arXiv:2409.04810"
    ),
    tables=(fig1.TABLE, fig3.TABLE, table3.TABLE, table4.TABLE, fig5.TABLE, aggregates.TABLE, experiments.TABLE),
    causes=CAUSES,
)
