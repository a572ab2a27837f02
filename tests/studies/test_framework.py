"""The frame of a study: trials, cells, claims, sizes, figures and kept arrays."""

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from unskew.errors import DataError
from unskew.studies import Context, Findings, Study, Table
from unskew.studies.framework.cache import key_of, read_arrays, write_arrays
from unskew.studies.framework.causes import Cause
from unskew.studies.framework.cells import absent_cells, cell, cells
from unskew.studies.framework.claims import SMALL_VERSION, Claim, all_above, claim, none_clear, unjudged
from unskew.studies.framework.figures import Panel, Series
from unskew.studies.framework.stats import Gap, Mean
from unskew.studies.framework.study import Size
from unskew.studies.framework.trials import Trials
from unskew.studies.showing.text import print_result

DRAWS = Size(200, 8, trials=True)
EPOCHS = Size(20, 4)


@pytest.fixture
def trials() -> Trials:
    groups = {
        ("a", "auc"): np.array([1.0, 2.0, 3.0]),
        ("a", "map"): np.array([0.0, 0.0, 0.5]),
        ("b", "auc"): np.array([0.0, 2.0, 1.0]),
    }
    return Trials(("model", "metric"), "draw", groups)


def test_a_group_is_found_by_what_singles_it_out(trials: Trials) -> None:
    assert trials.values(model="a", metric="auc").tolist() == [1, 2, 3]
    assert trials.values(model="b").tolist() == [0, 2, 1]
    assert trials.mean(metric="map") == Mean.of([0.0, 0.0, 0.5])
    assert trials.levels("model") == ("a", "b")
    assert list(trials.where(model="a")) == [("a", "auc"), ("a", "map")]


@pytest.mark.parametrize("fixed", [{"model": "a"}, {"model": "c"}])
def test_two_groups_or_none_are_refused(trials: Trials, fixed: dict[str, str]) -> None:
    with pytest.raises(KeyError, match="dimensions are model, metric"):
        trials.values(**fixed)


def test_an_absent_group_is_none(trials: Trials) -> None:
    assert trials.get("b", "map") is None
    assert trials.get("b", "auc") is trials["b", "auc"]


def test_a_gap_is_paired(trials: Trials) -> None:
    a, b = trials["a", "auc"], trials["b", "auc"]
    assert trials.gap({"model": "a"}, {"model": "b"}, metric="auc") == Gap.of(a, b)
    assert trials.gap({"model": "a"}, 2.0, metric="auc").mean == 0


def test_trials_are_collected_in_the_order_of_their_units() -> None:
    rows = [(("x",), 1.0), (("y",), 5.0), (("x",), 2.0), (("y",), 6.0)]
    trials = Trials.collect(("name",), "log", rows)
    assert {key: values.tolist() for key, values in trials.groups.items()} == {("x",): [1, 2], ("y",): [5, 6]}


def test_arrays_of_one_key_are_collected_along_a_first_axis() -> None:
    rows = [(("x",), np.array([1, 2])), (("x",), np.array([3, 4]))]
    assert Trials.collect(("name",), "log, round", rows)["x",].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_an_undefined_number_is_nan_among_the_collected() -> None:
    assert np.isnan(Trials.collect(("model",), "draw", [(("a",), None)])["a",]).all()


def test_the_frame_is_tidy(trials: Trials) -> None:
    frame = trials.frame
    assert frame.columns == ["model", "metric", "draw", "value"]
    assert len(frame) == 9
    means = frame.group_by("model", "metric", maintain_order=True).agg(pl.col("value").mean())
    assert means["value"].to_list() == [float(values.mean()) for values in trials.groups.values()]
    folds = Trials(("model",), "fold, user", {("a",): np.arange(6.0).reshape(2, 3)}).frame
    assert folds.filter(fold=1, user=2)["value"].item() == 5
    assert Trials(("model",), "draw", {}).frame.columns == ["model", "draw", "value"]


def test_trials_of_other_dimensions_are_not_joined(trials: Trials) -> None:
    more = Trials(trials.dims, "draw", {("c", "auc"): np.zeros(2)})
    assert list(trials | more)[-1] == ("c", "auc")
    with pytest.raises(ValueError, match="model, metric and model"):
        trials | Trials(("model",), "draw", {})


def test_cells_are_means_next_to_the_printed_numbers(trials: Trials) -> None:
    found = list(cells(trials, "{model}", lambda metric, **_: metric.upper(), "made", printed={("a", "AUC"): 1.5}))
    assert [(each.row, each.column, each.paper) for each in found] == [
        ("a", "AUC", 1.5),
        ("a", "MAP", None),
        ("b", "AUC", None),
    ]
    assert (found[0].ours, found[0].spread) == (2.0, 1.0)
    assert not any(each.comparable for each in found)


def test_a_cell_with_limits_is_comparable_and_says_why() -> None:
    assert cell("r", "c", "d", 1.04, 1.0, limits=(0.05, "rounding")).agrees is True
    assert cell("r", "c", "d", 1.06, 1.0, limits=(0.05, "rounding")).agrees is False
    assert cell("r", "c", "d", None, 1.0, limits=(0.05, "rounding")).agrees is None
    assert cell("r", "c", "d", 1.0, 1.0).agrees is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_a_cell_of_trials_is_that_of_their_mean(values: list[float]) -> None:
    assert cell("r", "c", "d", np.array(values)) == cell("r", "c", "d", Mean.of(np.array(values)))


def test_absent_data_leaves_the_printed_numbers() -> None:
    (found,) = absent_cells({("r", "c"): 0.5}, "yahoo", "not here")
    assert (found.paper, found.ours, found.data, found.note) == (0.5, None, "yahoo", "not here")


def run_claims(*claims: Claim, fast: bool) -> list[Claim]:
    table = Table("t", "A table", lambda _: Findings(claims=claims))
    return list(Study("made", "A paper", "N. N.", (table,)).run(Context(fast=fast)).claims)


def test_a_small_version_judges_only_what_does_not_need_the_full_run() -> None:
    claims = (
        claim("full", (False, "p .2")),
        claim("always", (False, "1 of 2"), needs_full=False),
        *unjudged(["absent"], "no data"),
    )
    assert [each.holds for each in run_claims(*claims, fast=False)] == [False, False, None]
    small = run_claims(*claims, fast=True)
    assert [each.holds for each in small] == [None, False, None]
    assert [each.evidence for each in small] == [f"{SMALL_VERSION}p .2", "1 of 2", "no data"]


def gap(z: float) -> Gap:
    return Gap(z, 1.0)


def test_a_verdict_of_numpy_is_one_of_python() -> None:
    """The status of a study asks whether a claim ``is False``."""
    assert claim("", (np.bool_(False), "")).holds is False  # type: ignore[arg-type]


def test_rules_over_several_gaps_are_held_together() -> None:
    """2.1 standard errors are clear alone, p .036, but not as the larger of two, .036 against .025."""
    assert none_clear({"a": gap(2.1)})[0] is False
    assert none_clear({"a": gap(2.1), "b": gap(0.1)})[0] is True
    assert all_above({"a": gap(5), "b": gap(4)}) is True
    assert all_above({"a": gap(5), "b": gap(0)}) is None
    assert all_above({"a": gap(5), "b": gap(-5)}) is False


def test_sizes_are_those_of_the_version_unless_asked_for() -> None:
    assert (Context().size(DRAWS), Context(fast=True).size(DRAWS)) == (200, 8)
    assert (Context(trials=5).size(DRAWS), Context(trials=5).size(EPOCHS)) == (5, 20)
    assert Context(fast=True, trials=5, sizes={DRAWS: 3, EPOCHS: 0}).size(DRAWS) == 3
    assert Context(sizes={EPOCHS: 0}).size(EPOCHS) == 0
    assert Context(fast=True).size(Size((1, 2))) == (1, 2)


def test_series_from_trials_have_errors_or_the_middle_of_the_trials() -> None:
    draws = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 4.0, 4.0])]
    over = Series.over("m", (0, 1), draws)
    assert over.mean == (2.0, 4.0)
    assert over.low == pytest.approx((2 - 1.96 / 3**0.5, 4.0))
    assert Panel.over("p", (0, 1), {"m": draws, "n": draws}, naive="n").series[0] == over
    middle = Series.middle("m", (0, 1), draws)
    assert (middle.low, middle.high) == (pytest.approx((1.05, 4)), pytest.approx((2.95, 4)))
    assert Series.exact("m", (0, 1), (5.0, 6.0)).high == (5.0, 6.0)


def test_arrays_are_kept_whole_or_not_at_all(tmp_path) -> None:
    path = tmp_path / "kept.npz"
    assert read_arrays(path, ["a"]) is None
    write_arrays(path, {"a": np.arange(3), "b": np.ones(2)})
    assert [each.name for each in tmp_path.iterdir()] == ["kept.npz"]
    assert read_arrays(path, ["a"], optional=["b", "c"]).keys() == {"a", "b"}
    assert read_arrays(path, ["a", "c"]) is None
    path.write_bytes(path.read_bytes()[:-20])
    assert read_arrays(path, ["a"]) is None
    write_arrays(None, {"a": np.arange(3)})
    with pytest.raises(DataError, match="cannot be written"):
        write_arrays(tmp_path / "absent" / "kept.npz", {"a": np.arange(3)})


def test_a_key_depends_on_everything_that_it_is_made_from() -> None:
    keys = {key_of(*parts) for parts in [(1, "a"), (1, "b"), ("1", "a"), (1,)]}
    assert len(keys) == 4
    assert len(key_of(1, length=20)) == 20


def test_what_disagrees_with_the_paper_has_its_cause() -> None:
    causes = (
        Cause("one", "rises", "the draw is another", "unskew reproduce s/one"),
        Cause("one", "mf, mse", "offsets are free", "unskew reproduce s/one"),
        Cause("two", "falls", "of another table", "unskew reproduce s/two"),
    )
    limits = (0.1, "one draw")
    findings = Findings(
        claims=(
            Claim("a: it rises", False, "+1", section="Sec. 1"),
            Claim("b: it rises", True, "+1", section="Sec. 1"),
            Claim("ours: it rises", False, "+1"),
            Claim("it falls", False, "-1", section="Sec. 1"),
        ),
        cells=(
            cell("mf", "mse", "coat", 2.0, 1.0, limits=limits, note="chosen by validation"),
            cell("mf", "mse", "yahoo", 1.0, 1.0, limits=limits),
            cell("mf", "mse", "jester", 2.0, limits=limits, reference=1.0),
        ),
    )
    study = Study("s", "S", "R", (Table("one", "t", lambda _: findings),), causes=causes)
    result = study.run(Context()).tables[0]
    shown = "the draw is another (unskew reproduce s/one)"
    assert [each.cause for each in result.claims] == [shown, "", "", ""]
    assert result.claims[0].to_dict()["cause"] == shown
    assert "cause" not in result.claims[1].to_dict()
    assert [each.note for each in result.cells] == [
        "chosen by validation; cause: offsets are free (unskew reproduce s/one)", "", ""
    ]  # fmt: skip
    console = Console(width=80, record=True, file=io.StringIO())
    print_result(study.run(Context()), console)
    assert f"why: {shown}" in console.export_text()
