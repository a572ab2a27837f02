"""Error audits as text: all digits are there, however narrow the screen and long the names."""

import re

import numpy as np
import pytest
from hand_worlds import audit_of, result

from unskew import audit
from unskew.audit.showing.text import as_text, print_error
from unskew.data import Interactions, split_fractions
from unskew.display.text_table import plain_text
from unskew.ranking import MatrixScorer
from unskew.simulators import Ibp

WORD = "ibp(users=40, alpha=20, c=1, sigma=0.2, sizes=pareto(scale=6, shape=1, upper=40))"
NAMES = ("a model with quite a long name", "popularity, as it was last year")


@pytest.fixture(scope="module")
def judged():
    rows = Ibp(users=40, alpha=20, c=1, sigma=0.2, sizes="pareto(scale=6, shape=1, upper=40)").log(5)
    split = split_fractions(Interactions.from_arrays(rows.users, rows.items), (0.8, 0.2), rng=0)
    ids = {"user_ids": split.train.user_vocabulary.ids, "item_ids": split.train.item_vocabulary.ids}
    shape = len(ids["user_ids"]), len(ids["item_ids"])
    scores = np.random.default_rng(0).normal(0, 1, (2, *shape))
    models = {name: MatrixScorer(values, **ids) for name, values in zip(NAMES, scores, strict=True)}
    return audit(split.train, models, test=split.test, metrics=["auc"], k=5, depth="quick", world=WORD, runs=2)


def numbers(text):
    return sorted(re.findall(r"[+-]?\d+\.\d+%?|\d+%", text))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_no_number_is_cut_or_lost_on_a_narrow_screen(judged, width):
    narrow, wide = as_text(judged, width), as_text(judged, 250)
    assert numbers(narrow) == numbers(wide)
    tables = "\n".join(line for line in narrow.splitlines() if re.search(r"\d\.\d{3}", line))
    cut = re.sub(r"\S*a model\S*|\S*popularity\S*", "", tables)
    assert not re.search(r"[\d.+-]…", cut)


def test_the_tables_of_errors_fit_80_columns(judged):
    text = as_text(judged, 80)
    errors = text[text.index("Errors of a value") : text.index("Assumed:")]
    assert max(len(line.rstrip()) for line in errors.splitlines() if "against" not in line) <= 80
    assert errors.count("Errors of a value") == 2


def test_a_wide_screen_has_both_recommenders_side_by_side(judged):
    assert as_text(judged, 140).count("Errors of a value") == 1


def drawn(width):
    """An audit of three worlds, one of which is refused, as text."""
    worlds = (result("lda-pop", wrong=1.0), result("ibp-pop", wrong=0.0), result("ibp-unif", why="it does not fit"))
    return plain_text(lambda console: print_error(audit_of(*worlds), console), width)


@pytest.mark.parametrize("width", [72, 80, 120])
def test_the_table_of_worlds_has_every_number_on_a_narrow_screen(width):
    assert numbers(drawn(width)) == numbers(drawn(250))


def test_every_world_is_in_the_table_and_the_refused_one_has_its_reason():
    text = drawn(200)
    table = text[text.index("Worlds") : text.index("Errors of a value")]
    assert re.search(r"lda-pop 1 +accepted +-90% +0\.20 +0\.20 +0\.20 +0\.20 +0\.90 +10 +100%", table)
    assert re.search(r"ibp-unif 1 +refused", table)
    assert "ibp-unif 1 refused: it does not fit" in table
    assert re.search(r"aoa +\+0\.0300 +-0\.0100 +0\.0100 +90% +0%\.\.100%", text)  # the span over accepted worlds
