"""Options in messages: flags for the command line, keywords for Python."""

import pytest

from unskew.errors import Option, spelled_as_flags

SPELLED = {
    "a value": (Option("candidates", "unseen"), 'candidates="unseen"', "--candidates unseen"),
    "a name alone": (Option("ties"), "ties=...", "--ties"),
    "a list": (Option("estimator", "snips"), 'estimators=["snips"]', "-e snips"),
    "several": (Option("model", ("a", "b")), 'models={"a": "a", "b": "b"}', "--model a --model b"),
    "a condition": (Option("positive", "rating>=4"), 'positive="rating>=4"', "--positive 'rating>=4'"),
    "a switch": (Option("allow_missing", True), "allow_missing=True", "--allow-missing"),
    "a number": (Option("level", 0.9), "level=0.9", "--level 0.9"),
    "one, which is not a switch": (Option("seed", 1), "seed=1", "--seed 1"),
    "what stands for a number": (Option("runs", "N"), "runs=N", "--runs N"),
    "another keyword": (Option("relevant_counts"), "relevant=...", "--relevant-counts"),
    "a column": (Option("user_col"), "user=...", "--user-col"),
    "a column of times": (Option("timestamp_col"), "timestamp=...", "--timestamp-col"),
    "a call": (Option("scores"), "read_scores(...)", "--scores"),
    "of another command": (Option("temporal", command="split"), "split_temporal(...)", "unskew split --temporal"),
    "a split per user": (Option("per_user", command="split"), "split_per_user(...)", "unskew split --per-user"),
}  # fmt: skip


@pytest.mark.parametrize("case", SPELLED)
def test_an_option_has_two_spellings(case: str) -> None:
    option, python, flags = SPELLED[case]
    assert f"use {option}" == f"use {python}"
    with spelled_as_flags():
        assert f"use {option}" == f"use {flags}"
    assert str(option) == python
    assert (option.keyword, option.flag) == (python, flags)


def test_flags_end_with_the_command_line_even_when_it_fails() -> None:
    with pytest.raises(KeyError), spelled_as_flags():
        raise KeyError
    assert str(Option("ties")) == "ties=..."
