"""``unskew exposures``."""

import json

import pytest

from unskew.estimators.exposed.planning import ExposurePlan

CASE = ("exposures", "--users", "1400", "--population", "2000")
RECALL = (*CASE, "--positive-share", "0.05", "--recall", "0.1")


def test_the_answers_are_those_of_the_plan(unskew):
    plan = ExposurePlan(1400, 2000, 0.1, 0.05)
    outcome = unskew(*RECALL, "--width", "0.02", "--exposed", "20", "--difference", "0.02")
    assert (outcome.code, outcome.err) == (0, "")
    first, _, _, _, by_width, by_number, by_gap, _, last = outcome.out.splitlines()
    assert first == "recall near 0.1; 1,400 users, 2,000 items each, 0.05 of them positive"
    needed, told_apart = plan.needed(0.02), plan.needed_to_detect(0.02)
    assert by_width.split() == ["width", "0.02", str(needed), f"{1400 * needed:,}", f"{plan.width(needed):.3g}"]
    assert by_number.split()[-3:] == ["20", "28,000", f"{plan.width(20):.3g}"]
    assert by_gap.split()[:2] == ["difference", "0.02"]
    assert by_gap.split()[-3:-1] == [str(told_apart), f"{1400 * told_apart:,}"]
    assert f"{plan.width(2000):.3g}" in last


def test_json_has_all_digits_on_stdout_or_in_a_file(unskew, tmp_path):
    plan = ExposurePlan(1400, 2000, 0.2, cutoff=10, likeness=0.2, level=0.9)
    words = (*CASE, "--precision", "0.2", "--cutoff", "10", "--likeness", "0.2", "--level", "0.9", "--exposed", "50")
    found = json.loads(unskew(*words, "--json", "-").out)
    assert (found["metric"], found["share"], found["level"]) == ("precision@10", None, 0.9)
    (answer,) = found["answers"]
    drawing, users = plan.variances(50)
    assert answer == pytest.approx(
        {
            "question": "exposed", "asked": 50, "exposed": 50, "rows": 70_000, "width": plan.width(50),
            "std_error": plan.std_error(50), "share_of_variance_from_users": users / (users + drawing),
        }
    )  # fmt: skip
    outcome = unskew(*words, "--json", str(tmp_path / "plan.json"))
    assert outcome.out.startswith("precision@10 near 0.2; ")
    assert json.loads((tmp_path / "plan.json").read_text()) == found


BAD = {
    "nothing asked": (RECALL, "--width, --exposed or --difference"),
    "no metric": ((*CASE, "--width", "0.02"), "--recall 0.1 or --precision"),
    "two metrics": ((*RECALL, "--precision", "0.1", "--width", "0.1"), "one metric"),
    "no cut-off": ((*CASE, "--precision", "0.1", "--width", "0.1"), "--precision needs --cutoff"),
    "cut-off of recall": ((*RECALL, "--cutoff", "5", "--width", "0.1"), "--cutoff is for --precision"),
    "no share": ((*CASE, "--recall", "0.1", "--width", "0.1"), "share of positives"),
    "out of reach": ((*RECALL, "--width", "0.001"), "all 2,000 items of each give 0.012"),
    "too many": ((*RECALL, "--exposed", "2001"), "between 1 and the population of 2000"),
    "no difference": ((*RECALL, "--difference", "-0.1"), "above 0"),
    "no number": ((*RECALL, "--width", "wide"), "--width"),
    "no power": ((*RECALL, "--difference", "0.05", "--power", "1"), "power 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_told_in_one_line(refuse, case):
    words, says = BAD[case]
    refuse(*words, says=(says,), outputs=False)


def test_a_file_that_cannot_be_written_is_refused(refuse, world):
    refuse(*RECALL, "--exposed", "20", "--json", world / "no/plan.json", says=("no/plan.json",), outputs=False)
