"""Studies: the demo, how well the intervals keep what they promise, and papers computed again."""

from unskew.studies.coverage import CoverageRow, compare_forms, measure_coverage
from unskew.studies.demo import Demo, run_demo
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings, StudyResult, TableResult
from unskew.studies.framework.study import Context, Size, Study, Table
from unskew.studies.registry import STUDIES, get_study

__all__ = [
    "STUDIES",
    "Claim",
    "Context",
    "CoverageRow",
    "Demo",
    "Figure",
    "Findings",
    "Panel",
    "ReproducedCell",
    "Series",
    "Size",
    "Study",
    "StudyResult",
    "Table",
    "TableResult",
    "compare_forms",
    "get_study",
    "measure_coverage",
    "run_demo",
]
