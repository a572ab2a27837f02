"""Studies: the demo, how well the intervals keep what they promise, and papers computed anew."""

from unskew.studies.coverage import CoverageRow, compare_forms, measure_coverage
from unskew.studies.demo import Demo, run_demo
from unskew.studies.figure import Figure, Panel, Series
from unskew.studies.registry import STUDIES, get_study
from unskew.studies.result import Claim, Findings, ReproducedCell, StudyResult, TableResult
from unskew.studies.study import Context, Study, Table

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
    "Study",
    "StudyResult",
    "Table",
    "TableResult",
    "compare_forms",
    "get_study",
    "measure_coverage",
    "run_demo",
]
