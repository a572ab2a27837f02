"""Tables of Lim et al. (2015) on the paper's own data set, where the user supplies it: here a small made file."""

import numpy as np
import pytest

from unskew.studies import Context
from unskew.studies.lim2015 import fits, longer, table1, table2, tuning
from unskew.studies.lim2015.printed import COUNTS
from unskew.studies.lim2015.protocol import split_of
from unskew.studies.lim2015.tuning import Grid, Ladder

OWN = "ml-10m"


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """120 people and 90 films, with half stars, and short training in the full version."""
    folder = tmp_path_factory.mktemp("supplied")
    rng = np.random.default_rng(2)
    chances = 1 / np.arange(1, 91) ** 0.7
    (folder / OWN).mkdir()
    with (folder / OWN / "ratings.dat").open("w") as stream:
        for user in range(1, 121):
            for item in rng.choice(90, 3 if user % 20 == 0 else 20, replace=False, p=chances / chances.sum()):
                stream.write(f"{user}::{item + 1}::{rng.choice([3.5, 4, 4.5, 5])}::1\n")
    grid = Grid(Ladder((0.05,)), Ladder((0.01, 0.1)), Ladder((0.01, 0.1)))
    short = {fits.STEPS: 3000, fits.SVD_RANKS: (2, 5, 50), tuning.GRID: grid}
    return Context(folder=folder, sizes=short, cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def first(context):
    return table1.run(context)


def own(findings):
    return {(cell.row, cell.column): cell for cell in findings.cells if cell.data == OWN}


def test_table_1_has_the_papers_numbers_beside_ours_and_says_why_they_are_not_compared(first):
    cells = own(first)
    assert all(cell.ours is not None for cell in cells.values())
    assert cells["users", "count"].paper == COUNTS[OWN][0]
    assert cells["users", "count"].ours == 120
    assert cells["MF-ADG", "ADG"].paper == 0.1768
    assert "not published" in cells["MF-ADG", "ADG"].note
    assert not any(cell.comparable for cell in cells.values())


def test_the_full_version_judges_every_claim_about_what_is_available(first, context):
    claims = [*first.claims, *table2.run(context).claims]
    judged = [claim for claim in claims if claim.claim.startswith(OWN) and claim.section]
    assert [claim.section for claim in judged] == [*["Table 1"] * 2, *["Sec. 6"] * 2, *["Table 2"] * 2]
    # what is left open says which difference chance explains; ATOP, of which one is enough, has it in standard errors
    left_open = ("beyond the bound, but not by two standard errors", "not beyond two standard errors", "s.e.")
    own_open = [claim for claim in claims if claim.claim.startswith(OWN) and claim.holds is None]
    assert all(any(words in claim.evidence for words in left_open) for claim in own_open)
    assert {claim.holds for claim in claims if not claim.claim.startswith(OWN)} == {None}


def test_users_with_too_few_relevant_items_only_train_and_are_counted(first, context):
    alone = fits.available_folds(context, OWN)[0].train_only
    assert alone >= 6
    (note,) = [note for note in first.notes if "users have a test item" in note]
    assert f"{alone} only train." in note


def test_more_steps_and_unseen_items_are_in_rows_of_their_own(first, context):
    cells = own(first)
    trials = longer.train_longer(context, OWN).trials
    for rule, row in (("all", "MF-ADG, 15,000 steps"), ("unseen", "MF-ADG, 15,000 steps, unseen items")):
        assert cells[row, "ADG"].ours == pytest.approx(np.nanmean(trials[rule][OWN, "mf-adg", "adg"]))
    assert cells["MF-ADG, 15,000 steps", "ADG"].ours != cells["MF-ADG", "ADG"].ours
    assert cells["MF-ADG, 15,000 steps, unseen items", "ADG"].paper is None
    literal, unseen = cells["SVD rank 5", "ADG"].ours, cells["SVD rank 5, unseen items", "ADG"].ours
    assert literal < unseen
    (note,) = [note for note in first.notes if "15,000 steps" in note]
    tried = [fits.tried_in(context, OWN, number, split_of(context, OWN, number))["mf-adg"] for number in range(4)]
    rising = sum(each.is_rising(("all", "adg")) for each in tried)
    assert rising > 0
    assert f"MF-ADG was still rising at the last step in {rising} of 4 folds" in note
    assert sum(claim.claim.startswith(f"{OWN}, 15,000 steps") for claim in first.claims) == 9


def test_models_that_rise_no_more_inside_the_grid_are_not_trained_for_longer(context, monkeypatch):
    monkeypatch.setattr(table1, "ends_of", lambda *_: [])
    monkeypatch.setattr(table1, "train_longer", None)
    assert not any("15,000 steps" in cell.row for cell in table1.run(context).cells)


def test_four_folds_give_a_spread(first):
    cells = own(first)
    for model in ("MF-AUC", "MF-ADG", "SVD rank 2", "SVD, rank chosen"):
        assert cells[f"{model}, s.e.", "ADG"].ours == pytest.approx(cells[model, "ADG"].spread / 2)


def test_the_chosen_rank_of_svd_is_the_best_on_validation(context):
    for fold in fits.available_folds(context, OWN):
        for rule in tuning.RULES:
            values = {size: np.nanmean(fold.values(f"svd({size})", "adg", "validation", rule)) for size in (2, 5, 50)}
            best = max(values, key=values.get)
            assert fold.settings[rule]["svd"] == str(best)
            assert fold.ranks[rule]["svd"] is fold.ranks[rule][f"svd({best})"]
