"""Studies: the demo, and how well the intervals keep what they promise."""

from unskew.studies.coverage import CoverageRow, compare_forms, measure_coverage
from unskew.studies.demo import Demo, run_demo

__all__ = ["CoverageRow", "Demo", "compare_forms", "measure_coverage", "run_demo"]
