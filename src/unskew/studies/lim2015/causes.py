"""Why sentences of the paper fail, as experiments in the tables show."""

from unskew.studies.framework.causes import Cause
from unskew.studies.lim2015.table1_claims import BUT_ATOP, NEAR

CAUSES = (
    Cause(
        "table1",
        NEAR,
        "the distance follows from the numbers alone: for each user it is (k - 1)(ATOP - 1/2)/(n - k) for k test items "
        "among n, and the data have more test items per user, or fewer items, than such a distance allows",
        "unskew reproduce lim2015/table1",
    ),
    Cause(
        "table1",
        BUT_ATOP,
        "MF-AUC learns more slowly than MF-ADG: with five times the steps most of the difference goes, as the claims "
        "about five million steps show; what is left is less than the standard error of the printed one",
        "unskew reproduce lim2015/table1",
    ),
)
