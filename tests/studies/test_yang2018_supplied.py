"""Figures 2 and 4 of Yang et al. (2018) on a data set that the user supplies."""

import gzip

import numpy as np

from unskew.studies import Context
from unskew.studies.yang2018 import fig2, fig4


def test_tradesy_runs_when_its_file_is_there(tmp_path):
    """300 people, of whom every tenth has 2 items and is left out, the others 12."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, 501) ** 0.8
    (tmp_path / "tradesy").mkdir()
    with gzip.open(tmp_path / "tradesy" / "tradesy.json.gz", "wt") as stream:
        for user in range(300):
            items = rng.choice(500, 2 if user % 10 == 0 else 12, replace=False, p=chances / chances.sum())
            half = len(items) // 2
            lists = {"bought": [str(i) for i in items[:half]], "want": [str(i) for i in items[half:]]}
            stream.write(f"{ {'uid': str(user), 'lists': lists} }\n")
    here = Context(fast=True, folder=tmp_path)
    counts = {cell.row: cell.ours for cell in fig2.run(here).cells if cell.data == "tradesy"}
    assert (counts["users"], counts["interactions"]) == (270, 270 * 12)
    drawn = fig4.run(here)
    tradesy = [cell for cell in drawn.cells if cell.data == "tradesy"]
    assert len(tradesy) == 16 * 10
    assert all(cell.ours is not None for cell in tradesy)
    assert drawn.figures[0].title == "Metrics on tradesy as gamma grows"
    assert all(cell.ours is None for cell in drawn.cells if cell.data != "tradesy")
