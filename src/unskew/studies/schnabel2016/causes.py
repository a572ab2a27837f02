"""Why numbers of the paper do not come out, as experiments in the tables show."""

from unskew.studies.framework.causes import Cause

CAUSES = (
    Cause(
        "table2",
        "MF-Naive, MSE, coat",
        "offsets of users and items are free here, as in the paper's equation; penalised like the factors, which the "
        "paper may have done, they give the printed number: it is in the row with penalised offsets",
        "unskew reproduce schnabel2016/table2",
    ),
)
