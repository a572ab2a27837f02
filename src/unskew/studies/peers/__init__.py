"""Head to head: corrected metrics of other packages and ours, on logs whose pairs have known relevance."""

from unskew.studies.framework.study import Study
from unskew.studies.peers import tables

__all__ = ["STUDY"]

STUDY = Study(
    name="peers",
    title="Head to head: other packages' corrected metrics and ours, next to known relevance",
    reference="A study of ours, not of a paper: metrics of WarpRec, PyTorch Geometric, RecTools, RecPack, ir_measures",
    tables=tables.TABLES,
    of_paper=False,
)
