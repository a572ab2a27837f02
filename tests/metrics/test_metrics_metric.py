import math
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from unskew.errors import ConfigError
from unskew.metrics import ADG, AUC, DCG, NDCG, AtK, Metric, Precision, Recall
from unskew.metrics.exact.positions import harmonic_numbers


@dataclass(frozen=True)
class Halfway(Metric):
    """1 in the upper half of the candidates.

    A second paragraph.
    """

    uses_candidates: ClassVar[bool] = True

    def gain(self, above, candidates):
        return (2 * np.asarray(above) < candidates).astype(float)


def test_ties_of_a_metric_that_needs_the_candidates_are_averaged_per_number_of_candidates():
    above, tied = np.array([0, 1, 0, 3]), np.array([3, 2, 3, 0])
    candidates = np.array([4, 4, 8, 6])
    np.testing.assert_allclose(Halfway().expected(above, tied, candidates), [0.5, 1 / 3, 1, 0])
    np.testing.assert_allclose((Halfway() @ 1).expected(above, tied, candidates), [0.25, 0, 0.25, 0])


def test_a_definition_is_the_first_line_of_the_docstring_unless_said():
    assert Halfway().definition == "1 in the upper half of the candidates."
    assert (Halfway() @ 3).definition == Halfway().definition


def test_a_cutoff_keeps_the_kind():
    assert (ADG() @ 3).kind == "mean"
    assert (DCG() @ 3).kind == "sum"
    assert (Precision() @ 3).kind == "sum"
    assert (Recall() @ 3).kind == "mean"
    assert (NDCG() @ 3).kind == "list"


def test_one_wrapper_cuts_every_gain():
    cut = ADG() @ 2
    assert cut == AtK(ADG(), 2)
    assert cut.cutoff == 2
    np.testing.assert_allclose(cut.gain(np.array([0, 1, 2]), np.full(3, 9)), [1, 1 / np.log2(3), 0])


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_a_cutoff_is_a_whole_number_from_1(k):
    with pytest.raises(ConfigError, match="at least 1"):
        Recall() @ k
    with pytest.raises(ConfigError, match="at least 1"):
        NDCG() @ k


def test_a_second_cutoff_is_refused():
    for metric in (Recall() @ 3, NDCG() @ 3):
        with pytest.raises(ConfigError, match="already has a cut-off"):
            metric @ 4
    with pytest.raises(ConfigError, match="has no cut-off"):
        AUC() @ 4


def test_untied_gains_are_the_plain_formula_to_the_last_bit():
    above = np.random.default_rng(0).integers(0, 5000, 20_000).astype(np.int32)
    same = np.full_like(above, 5000)
    plain = [1 / math.log2(better + 2) for better in above.tolist()]
    np.testing.assert_array_equal(ADG().expected(above, np.zeros_like(above), same), plain)


def test_precision_divides_by_k_or_by_the_list():
    above, tied, candidates = np.array([0, 2, 3]), np.zeros(3, int), np.full(3, 50)
    listed = np.full(3, 3)
    np.testing.assert_allclose((Precision() @ 5).row_gains(above, tied, candidates, listed), [0.2, 0.2, 0])
    of_list = Precision(of="list") @ 5
    np.testing.assert_allclose(of_list.row_gains(above, tied, candidates, listed), [1 / 3, 1 / 3, 0])
    np.testing.assert_allclose(of_list.row_gains(above, tied, candidates), [0.2, 0.2, 0.2])
    np.testing.assert_allclose(of_list.row_gains(above, tied, candidates, np.zeros(3, int)), [0, 0, 0])


def test_harmonic_numbers_by_hand():
    np.testing.assert_allclose(harmonic_numbers(3), [0, 1, 1.5, 11 / 6])


def test_importing_the_metrics_does_not_import_numba():
    code = "import sys, unskew.metrics as m; m.parse_metric('map@5'); sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
