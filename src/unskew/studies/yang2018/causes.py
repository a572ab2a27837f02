"""Why numbers of the paper do not come out, as experiments in the tables show."""

from unskew.studies.framework.causes import Cause

CAUSES = (
    Cause(
        "table2",
        "PMF, gamma, citeulike-a",
        "gamma falls while PMF trains, and validation stops it later than the paper seems to have done: at an earlier "
        "step gamma, AUC and Recall@5 are all the paper's, as the claim about PMF's steps shows",
        "unskew reproduce yang2018/table2",
    ),
)
