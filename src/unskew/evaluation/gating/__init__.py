"""Whether a new model may replace an old one: `gate`, its decision and its checks."""

from unskew.evaluation.gating.decision import Gate, gate

__all__ = ["Gate", "gate"]
