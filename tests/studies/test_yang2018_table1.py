"""Table 1 of Yang et al. (2018): every cell, and cells and claims that can fail."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from unskew.estimators import Aoa, Ips, Snips
from unskew.studies import Context, Findings, get_study
from unskew.studies.yang2018 import STUDY, table1
from unskew.studies.yang2018.printed import TABLE1
from unskew.studies.yang2018.table1 import EXAMPLE, METRICS


@pytest.fixture(scope="module")
def findings() -> Findings:
    return table1.compute(EXAMPLE)


def test_every_cell_agrees_and_every_claim_holds(findings: Findings) -> None:
    assert len(findings.cells) == 3 * 9 + 3 * 6 + 1
    assert all(cell.agrees for cell in findings.cells)
    assert [claim.holds for claim in findings.claims] == [True] * 4
    assert [claim.section for claim in findings.claims] == ["Table 1", "Table 1", "", ""]
    assert len({(cell.row, cell.column) for cell in findings.cells}) == len(findings.cells)


def test_a_last_digit_that_is_wrong_would_be_seen(findings: Findings) -> None:
    for cell in findings.cells:
        assert cell.ours is not None
        assert replace(cell, ours=cell.ours + (1.5e-6 if cell.paper is None else 1.5e-3)).agrees is False


def test_the_paper_prints_six_of_the_numbers(findings: Findings) -> None:
    printed = {(cell.row, cell.column): cell.paper for cell in findings.cells if cell.paper is not None}
    assert printed == TABLE1
    assert sum(cell.reference is not None for cell in findings.cells) == 40


def test_the_printed_digits_are_those_that_leave_one_ranking_of_z3_and_several_of_z1_and_z2() -> None:
    """To two digits Z3 would not be unique, to four Z1 and Z2 would be, so the paper prints three."""
    gains = 1 / np.log2(np.arange(2, 14))
    places = [(list(liked), list(seen)) for liked in combinations(range(12), 8) for seen in combinations(liked, 4)]
    sums = np.array([(gains[liked].mean(), gains[seen].mean()) for liked, seen in places])
    numbers = dict(EXAMPLE.numbers())
    for digits, unique in ((2, []), (3, ["Z3"]), (4, ["Z1", "Z2", "Z3"])):
        counts = {}
        for name in EXAMPLE.lists:
            asked = np.round([numbers[name, "DCG true"], numbers[name, "DCG AOA"]], digits)
            counts[name] = int((np.round(sums, digits) == asked).all(axis=1).sum())
        assert [name for name, count in counts.items() if count == 1] == unique


def test_the_mean_of_ips_is_the_truth_and_both_forms_of_snips_are_one_number() -> None:
    """Identities of the example, for every metric; with one user the forms do not differ."""
    numbers = dict(EXAMPLE.numbers())
    for name, metric in product(EXAMPLE.lists, METRICS):
        assert numbers[name, f"E[{metric} IPS]"] == pytest.approx(numbers[name, f"{metric} true"], abs=1e-12)
        assert numbers[name, f"{metric} SNIPS"] == pytest.approx(numbers[name, f"{metric} default snips"], abs=1e-12)


def test_other_chances_of_observation_make_cells_and_claims_fail() -> None:
    """With all liked items equally likely to be seen, AOA is as good as SNIPS."""
    findings = table1.compute(replace(EXAMPLE, chance={"a": 0.5, "b": 0.5}))
    assert any(cell.agrees is False for cell in findings.cells)
    holds = {claim.claim: claim.holds for claim in findings.claims}
    assert holds["SNIPS is less biased than AOA for every list, and not free of bias"] is False


def test_a_list_that_is_not_what_the_paper_drew_fails() -> None:
    findings = table1.compute(replace(EXAMPLE, lists={**EXAMPLE.lists, "Z1": EXAMPLE.lists["Z3"]}))
    assert any(cell.agrees is False for cell in findings.cells if cell.row == "Z1")
    assert findings.claims[0].holds is False


def test_the_patterns_are_all_and_their_chances_add_up() -> None:
    patterns = list(EXAMPLE.patterns())
    assert len({tuple(seen.tolist()) for seen, _ in patterns}) == 2**8
    assert sum(chance for _, chance in patterns) == pytest.approx(1, rel=1e-12)


def test_an_expectation_is_over_what_is_defined() -> None:
    """All gains 1: AOA and SNIPS are 1 whenever they are defined; IPS is 1 on average with its zeros counted."""
    for estimator in (Aoa(), Snips(), Ips()):
        assert EXAMPLE.expectation(np.ones(8), estimator) == pytest.approx(1)


def test_the_study_is_known_by_its_name() -> None:
    assert get_study("yang2018") is STUDY
    result = STUDY.run(Context(), ["table1"])
    assert result.status == 0
    assert result.verdict == (
        "6 of 6 comparable printed numbers agree, and 2 of 2 claims of the paper hold. "
        "Ours: 40 of 40 reference numbers agree, and 2 of 2 claims hold."
    )
