"""Tables of Lim et al. (2015) on the paper's own data set, where the user supplies it: here a small made file."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.studies import Context
from unskew.studies.lim2015 import fits, table1, table1_more, table2
from unskew.studies.lim2015.printed import COUNTS

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
    rates, penalties = (0.05,), (0.01, 0.1)
    short = {fits.STEPS: 3000, fits.RATES: rates, fits.PENALTIES: penalties, fits.SVD_RANKS: (2, 5)}
    grid = (rates, penalties, (0.1, 0.01))
    return Context(folder=folder, sizes={**short, table1_more.LONGER: grid, table1_more.WIDER: grid})


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


def test_the_full_version_judges_every_claim_about_what_is_at_hand(first, context):
    judged = [claim for claim in (*first.claims, *table2.run(context).claims) if claim.claim.startswith(f"{OWN}:")]
    assert len(judged) == 8 + 5
    assert all(claim.holds is not None for claim in judged)


def test_users_with_too_few_relevant_items_only_train_and_are_counted(first, context):
    alone = fits.available_folds(context, OWN)[0].train_only
    assert alone >= 6
    (note,) = [note for note in first.notes if "users have a test item" in note]
    assert f"{alone} only train." in note


def test_more_steps_and_all_items_are_in_rows_of_their_own(first):
    cells = own(first)
    assert cells["MF-ADG, five million steps", "ADG"].ours is not None
    literal, unseen = cells["SVD rank 5, among all items", "ADG"].ours, cells["SVD rank 5", "ADG"].ours
    assert literal < unseen
    assert sum("five million steps" in note for note in first.notes) == 1
    assert any("ranked among all items" in note for note in first.notes)


def test_four_folds_give_a_spread(first):
    cells = own(first)
    for model in ("MF-AUC", "MF-ADG", "SVD rank 2"):
        assert cells[f"{model}, s.e.", "ADG"].ours == pytest.approx(cells[model, "ADG"].spread / 2)


def test_where_mf_adg_does_not_win_both_are_tuned_further_and_what_came_of_it_is_noted(first, context):
    assert not table1.wins(first.trials, OWN)
    cells = own(first)
    tuned = table1_more.train_wider(context, OWN)
    assert cells["MF-ADG, tuned further", "ADG"].ours == pytest.approx(np.nanmean(tuned.trials[OWN, "mf-adg", "adg"]))
    assert cells["MF-AUC, tuned further", "MAP"].spread is not None
    assert sum("tuned further, in all folds" in note for note in first.notes) == 1
    for sign, verdict in ((-5.0, "none of them"), (5.0, "map, ndcg, recall@10, adg")):
        moved = {key: np.abs(each) + sign * (key[1] == "mf-adg") for key, each in tuned.trials.groups.items()}
        note = table1_more.note_wider(OWN, replace(tuned, trials=replace(tuned.trials, groups=moved)))
        assert f"it is then above MF-AUC by {verdict}" in note
