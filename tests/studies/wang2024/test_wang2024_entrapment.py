"""The best K of a model (Wang et al. 2024, section 5)."""

import numpy as np

from unskew.studies.wang2024.entrapment import best_ks

KS = (1, 5, 20, 100)


def test_the_best_k_is_where_a_model_gains_most_on_the_better_of_the_others():
    recall = {
        10: np.array([0.04, 0.10, 0.20, 0.50]),  # relative: 2, 1.25, 0.67, 0.63
        50: np.array([0.02, 0.08, 0.30, 0.60]),  # 0.5, 0.8, 1.2, 0.75
        100: np.array([0.01, 0.05, 0.25, 0.80]),  # 0.25, 0.5, 0.83, 1.33
    }
    assert best_ks(recall, KS) == {10: 1, 50: 20, 100: 100}


def test_of_equals_the_smallest_is_taken():
    same = np.array([0.1, 0.2, 0.3, 0.4])
    assert best_ks({10: same, 50: same, 100: same}, KS) == {10: 1, 50: 1, 100: 1}


def test_nothing_found_by_the_others_counts_as_no_gain():
    recall = {10: np.array([0.1, 0.2]), 50: np.array([0.0, 0.1]), 100: np.array([0.0, 0.1])}
    assert best_ks(recall, (1, 5))[10] == 5
