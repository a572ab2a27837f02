"""Table 1 of Yang et al. (2018): every cell, and cells and claims that can fail."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.estimators import Aoa, Ips, Snips
from unskew.studies import Context, Findings, get_study
from unskew.studies.yang2018 import STUDY, table1
from unskew.studies.yang2018.table1 import EXAMPLE


@pytest.fixture(scope="module")
def findings() -> Findings:
    return table1.compute(EXAMPLE)


def test_every_cell_agrees_and_every_claim_holds(findings: Findings) -> None:
    assert len(findings.cells) == 3 * 9 + 3 * 6 + 1
    assert all(cell.agrees for cell in findings.cells)
    assert [claim.holds for claim in findings.claims] == [True] * 6
    assert len({(cell.row, cell.column) for cell in findings.cells}) == len(findings.cells)


def test_a_sixth_digit_that_is_wrong_would_be_seen(findings: Findings) -> None:
    for cell in findings.cells:
        assert cell.ours is not None
        assert replace(cell, ours=cell.ours + 1.5e-6).agrees is False


def test_each_cell_says_whether_the_paper_prints_it(findings: Findings) -> None:
    printed = {cell.column for cell in findings.cells if cell.note.startswith("the paper prints")}
    beyond = {cell.column for cell in findings.cells if cell.note.startswith("not in the paper")}
    assert printed == {f"{metric} {key}" for metric in ("DCG", "AUC", "Recall@5", "DCG@5") for key in ("true", "AOA")}
    assert printed | beyond == {cell.column for cell in findings.cells}


def test_other_chances_of_observation_make_cells_and_claims_fail() -> None:
    """With all liked items equally likely to be seen, AOA is as good as SNIPS."""
    findings = table1.compute(replace(EXAMPLE, chance={"a": 0.5, "b": 0.5}))
    assert any(cell.agrees is False for cell in findings.cells)
    holds = {claim.claim: claim.holds for claim in findings.claims}
    assert holds["SNIPS is less biased than AOA for every list, and not free of bias"] is False
    assert holds["E[IPS] = R"] is True


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
    assert result.verdict == "46 of 46 comparable numbers agree, and 6 of 6 claims hold."
