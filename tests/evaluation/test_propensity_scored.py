"""Propensity-scored precision and NDCG: the numbers of napkinXC, ties in expectation, and the caveat."""

from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError
from unskew.evaluation.partitioned.mergeable import check_mergeable
from unskew.evaluation.settings.settings import resolve
from unskew.evaluation.showing.text import as_text
from unskew.metrics import PSNDCG, PSP, expected_move, list_metrics, parse_metric
from unskew.ranking import MatrixScorer

USERS, ITEMS = 12, 15
SEEN = np.add.outer(np.arange(USERS) * 5, np.arange(ITEMS) * 7) % 11 < np.linspace(8, 1, ITEMS)
HELD = ~SEEN & (np.add.outer(np.arange(USERS) * 3, np.arange(ITEMS) * 4) % 7 < 2)
SCORES = np.add.outer(np.arange(USERS) * 13, np.arange(ITEMS) * 29) % 31 * 100.0 + np.arange(ITEMS)

# napkinXC 0.7.2: psprecision_at_k and psndcg_at_k, at 1 to 5, with Jain_et_al_inverse_propensity(SEEN, A, B)
NAPKINXC = {
    ("psp", 0.55, 1.5): [
        0.21300209560697284,
        0.23644882855830007,
        0.37697612317727763,
        0.4822362359562476,
        0.5918347309991011,
    ],
    ("psndcg", 0.55, 1.5): [
        0.21300209560697284,
        0.24252136503961735,
        0.33879181135048286,
        0.39338898015064494,
        0.44399788234919746,
    ],
    ("psp", 0.5, 0.4): [
        0.20805666934361966,
        0.2330352443688075,
        0.373646780332771,
        0.47785256352286865,
        0.5869955501701313,
    ],
    ("psndcg", 0.5, 0.4): [
        0.20805666934361966,
        0.2386031948725476,
        0.33515693629981524,
        0.389184117187168,
        0.43951000360227455,
    ],
}
INVERSE = [1.6743914294882554, 1.6743914294882554, 1.7125546425229672]  # of the first three items, with 0.55 and 1.5


def judged(metrics: list[str], scores: np.ndarray = SCORES, **settings: Any) -> Report:
    """The report on one model."""
    sizes = {"n_users": USERS, "n_items": ITEMS}
    train, test = (Interactions.from_arrays(*np.nonzero(rows), **sizes) for rows in (SEEN, HELD))
    return evaluate({"m": MatrixScorer(scores)}, Split(train, test), metrics=metrics, **settings)


@pytest.mark.parametrize(("word", "a", "b"), NAPKINXC)
def test_values_are_those_of_napkinxc(word: str, a: float, b: float) -> None:
    options = "" if (a, b) == (0.55, 1.5) else f"(a={a:g}, b={b:g})"
    words = [f"{word}{options}@{k}" for k in range(1, 6)]
    report = judged(words)
    assert [report.value("m", each, "aoa") for each in words] == pytest.approx(NAPKINXC[word, a, b], abs=1e-12)


def test_weights_are_those_of_jain() -> None:
    counts = SEEN.sum(axis=0)
    assert PSP().weights(counts, USERS)[:3] == pytest.approx(INVERSE, abs=1e-12)
    assert (PSP().weights(np.array([0, 5, 5000]), 1) == 1).all()  # log(1) - 1 is negative, and no weight is below 1
    assert PSNDCG().divisors(np.array([1, 2, 9]), 2) == pytest.approx([1, 1 + 1 / np.log2(3), 1 + 1 / np.log2(3)])


def test_the_best_order_has_one_and_ties_the_mean_over_orders() -> None:
    rare = HELD * (20.0 - SEEN.sum(axis=0))  # held-out items first, the rarest of them on top
    report = judged(["psp@2", "psndcg@2"], rare)
    assert report.value("m", "psp@2", "aoa") == pytest.approx(1)
    assert report.value("m", "psndcg@2", "aoa") == pytest.approx(1)
    rng = np.random.default_rng(1)
    draws = [judged(["psndcg@3"], rng.random((USERS, ITEMS)), baselines=False) for _ in range(60)]
    flat = judged(["psndcg@3"], np.zeros((USERS, ITEMS))).value("m", "psndcg@3", "aoa")
    values = [draw.value("m", "psndcg@3", "aoa") or 0.0 for draw in draws]
    assert flat == pytest.approx(np.mean(values), abs=4 * np.std(values) / np.sqrt(60))


def test_the_caveat_is_printed() -> None:
    report = judged(["psp@3"])
    assert "target is not a mean over relevant pairs" in as_text(report).replace("\n", " ")
    assert "target is not a mean over relevant pairs" in report.to_html()
    assert "p of Jain et al. by training count" in report.estimate("m", "psp@3", "aoa").definition
    assert report.baselines is not None
    assert report.baselines.names == ("popular", "random")


def test_they_are_listed_with_their_options() -> None:
    listed = {entry.form: entry.options for entry in list_metrics() if entry.kind == "scored"}
    assert listed == {"psp@K": {"a": "0.55", "b": "1.5"}, "psndcg@K": {"a": "0.55", "b": "1.5"}}
    assert str(parse_metric("psp(b=0.4, a=0.5)@5")) == "psp(a=0.5, b=0.4)@5"


@pytest.mark.parametrize("estimator", ["snips", "ips", "aoa(per=pair)", "dm", "blend"])
def test_nothing_weights_them_again(estimator: str) -> None:
    with pytest.raises(ConfigError, match="cannot estimate psp@3"):
        judged(["psp@3"], estimators=[estimator])


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"psp\(a=0, b=1.5\): give numbers above 0"):
        parse_metric("psp(a=0)@5")
    with pytest.raises(ConfigError, match="needs a cut-off"):
        parse_metric("psndcg")
    with pytest.raises(ConfigError, match="psp@3 cannot be merged over parts: it needs the training counts"):
        check_mergeable(resolve(metrics=["psp@3"]), Split(*(Interactions.from_arrays([0], [0]),) * 2).rule)
    with pytest.raises(ConfigError, match="psp@3 is not estimated from exposed rows"):
        resolve(metrics=["psp@3"], exposed=True)
    report = judged(["psp@3"])
    with pytest.raises(ConfigError, match="is not known for other sizes"):
        expected_move("psp@3", report.samples.judged.ranks["m"], share=0.5)
