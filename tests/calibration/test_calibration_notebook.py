"""Calibrations in notebooks, and their charts."""

from unskew.calibration.result import Calibrated, Calibration, LogFacts
from unskew.simulators.likeness import STATISTICS

KINDS = ("ibp-pop", "lda-unif")


def calibration() -> Calibration:
    objectives = ("joint", *STATISTICS)
    worlds = tuple(
        Calibrated(
            kind=kind,
            word=f"{kind.split('-')[0]}(users=50)",
            divergences=dict.fromkeys(STATISTICS, 0.1 + k),
            ratios=dict.fromkeys(STATISTICS, 1.0 + k),
            loss=float(k),
            singles=dict.fromkeys(STATISTICS, 0.1),
            evaluations=9,
            refused=0,
            trace=dict.fromkeys(objectives, ((0, 1.0), (3, 0.5))),
        )
        for k, kind in enumerate(KINDS)
    )
    log = LogFacts("<b>.csv", 100, 50, 20, "0" * 64)
    settings = {"singles": 5, "starts": 2, "joint": 3}
    return Calibration(log, worlds, dict.fromkeys(STATISTICS, 0.1), settings, {}, "unskew calibrate")


def test_a_notebook_shows_the_nearest_world_a_chart_and_a_table():
    shown = calibration()._repr_html_()
    assert shown.startswith("<p><strong>Nearest to &lt;b&gt;.csv is ibp(users=50).</strong>")
    assert shown.index("<img") < shown.index("<table>")
    assert shown.count("<tr>") == 1 + len(KINDS) + 1  # the header, the worlds, the best
    assert "<b>" not in shown


def test_there_is_a_chart_of_every_objective_with_the_kinds_in_its_legend():
    charts = calibration().charts
    assert list(charts) == ["joint", *STATISTICS]
    assert all(kind in charts["joint"].svg for kind in KINDS)
