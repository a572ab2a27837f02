"""Why sentences of the paper fail, as experiments in the tables show."""

from unskew.studies.framework.causes import Cause

CAUSES = (
    Cause(
        "table3",
        "in the IBP world observed by popularity, popular is ranked above the oracle by",
        "the concentration of the process, which the paper does not give: at half the smallest calibrated one popular "
        "is ahead by the paper's metrics, as the notes on concentration show",
        "unskew reproduce tian2020/table3",
    ),
)
