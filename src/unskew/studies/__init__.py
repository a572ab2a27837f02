"""Studies: the demo, and how well the intervals keep what they promise."""

from unskew.studies.demo import Demo, run_demo

__all__ = ["Demo", "run_demo"]
