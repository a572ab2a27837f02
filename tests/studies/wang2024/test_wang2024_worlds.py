"""Worlds with all labels, among them KuaiRec, and their biased logs (Wang et al. 2024)."""

import os
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest
from made_wang2024 import tiny_log, tiny_world

from unskew.errors import ConfigError, DataError
from unskew.studies import Context
from unskew.studies.wang2024.effects import RECORDED, Effects, empirical_bayes
from unskew.studies.wang2024.worlds import (
    BOOST,
    DECAYS,
    ITEMS,
    LIKE,
    TRAINED,
    TWIN,
    USERS,
    chances_of,
    draw_exposed,
    draw_log,
    gumbel_top,
    kuairec_like,
    kuairec_world,
    lda_world,
    logs,
    shares,
    with_attribute,
    worlds,
)


def test_the_lda_world_has_the_size_of_kuairec_and_users_who_differ(tmp_path):
    world = lda_world(Context(folder=tmp_path))
    assert world.labels.shape == world.known.shape == (1411, 3327)
    assert world.known.all()
    assert 0.045 < world.labels.mean() < 0.06
    likes = world.labels.sum(axis=1)
    assert likes.std() > 0.4 * likes.mean()
    assert f"measured {world.correlation:+.2f}" in world.origin


def test_without_data_the_small_version_has_three_small_worlds(tmp_path):
    made = worlds(Context(fast=True, folder=tmp_path))
    assert [world.name for world in made] == [LIKE, TWIN, "lda"]
    assert {world.labels.shape for world in made} == {(200, 400)}
    assert all("200 users and 400 items at random" in world.origin for world in made)
    assert not any(world.differs for world in made)


def test_the_size_of_a_world_can_be_set(tmp_path):
    *_, world = worlds(Context(fast=True, folder=tmp_path, sizes={USERS: 30, ITEMS: 50}))
    assert world.labels.shape == (30, 50)
    assert "30 users and 50 items at random" in world.origin


def test_a_world_is_made_once_a_run_and_again_by_its_seed(tmp_path):
    context = Context(fast=True, folder=tmp_path)
    assert logs(context)[0] is logs(context)[0]
    again = lda_world(Context(fast=True, folder=tmp_path))
    np.testing.assert_array_equal(again.labels, lda_world(context).labels)
    assert not np.array_equal(lda_world(Context(seed=1, fast=True, folder=tmp_path)).labels, again.labels)


@pytest.fixture(scope="module")
def real():
    """KuaiRec, where the files are."""
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    world = kuairec_world(Context(folder=Path(os.environ["UNSKEW_DATA"])))
    if world is None:
        pytest.skip("real data: KuaiRec is not in the folder UNSKEW_DATA")
    return world


def test_kuairec_is_the_whole_grid_in_the_order_of_popularity(real):
    assert real.labels.shape == (1411, 3327)
    assert real.labels.sum() == 217_175
    assert real.correlation == pytest.approx(-0.76, abs=0.01)
    assert f"with relevance is {real.correlation:+.2f}" in real.origin
    assert "popularity" in real.differs


def test_the_world_like_kuairec_has_its_positives_and_its_spreads(real):
    effects = empirical_bayes(real.labels, real.known)
    assert (effects.mean, *effects.spreads) == pytest.approx((RECORDED.mean, RECORDED.users, RECORDED.items), abs=0.01)
    assert effects.chances().mean() == pytest.approx(real.labels.mean(), rel=0.01)


def test_a_smaller_lambda_leaves_fewer_positives(real):
    held = []
    for decay in sorted(DECAYS.full, reverse=True):
        log = draw_log(replace(real, decay=decay), np.random.default_rng(0))
        held.append(log.relevant.sum() / log.held.sum())
        assert len(log.parts.train) == pytest.approx(TRAINED * real.labels.size, rel=1e-3)
    assert held == sorted(held, reverse=True)


def test_empirical_bayes_finds_the_effects_that_labels_were_made_from():
    # 300 x 400 cells; the s.e. of an effect is about 1 / sqrt(300 x 0.1) = 0.18, and effects have a spread near 1
    rng = np.random.default_rng(2)
    true = Effects(-2.0, rng.normal(0, 1.0, 300), rng.normal(0, 0.7, 400))
    labels = rng.random((300, 400)) < true.chances()
    found = empirical_bayes(labels, np.ones_like(labels))
    assert found.spreads == pytest.approx((1.0, 0.7), abs=0.12)
    assert np.corrcoef(found.users, true.users)[0, 1] > 0.95
    assert np.corrcoef(found.items, true.items)[0, 1] > 0.95
    assert found.chances().mean() == pytest.approx(labels.mean(), rel=0.02)


def test_an_item_that_nobody_likes_has_a_finite_effect():
    labels = np.zeros((20, 10), dtype=bool)
    labels[:, 0] = True
    found = empirical_bayes(labels, np.ones_like(labels))
    assert np.isfinite(found.items).all()
    assert found.items[0] == found.items.max()


def test_labels_of_the_world_like_kuairec_are_chance(tmp_path):
    world = kuairec_like(Context(folder=tmp_path), None)
    assert world.labels.shape == (1411, 3327)
    assert 0.03 < world.labels.mean() < 0.07
    # were it free of noise, all users would share one order, and the most liked item would be liked by all who like any
    assert world.labels[:, world.labels.sum(axis=0).argmax()].mean() < 0.9


def test_exposure_by_label_logs_more_positives():
    # 1,480 logged pairs, a fifth positive: an s.e. of 0.01 for the share; four times the weight moves it by far more
    world = tiny_world()
    plain, twin = (
        draw_log(replace(world, boost=boost), np.random.default_rng(0), part=0.1, validated=0.1) for boost in (0, BOOST)
    )
    assert np.mean(twin.parts.train.values) > np.mean(plain.parts.train.values) + 0.1
    assert "weigh 4 times as much" in replace(world, boost=BOOST).description


def test_the_attribute_has_the_correlation_that_was_asked_for():
    # Spearman's has a standard error of about 0.75 / sqrt(4000) = 0.012 here; five of them, P < 1e-6
    rng = np.random.default_rng(0)
    labels = rng.random((50, 4000)) < rng.random(4000)
    world = with_attribute("made", labels, np.ones_like(labels), "Made.", rng)
    assert world.correlation == pytest.approx(-0.5, abs=0.06)
    assert (world.attribute > 0).all()


def test_shares_are_of_what_is_known():
    labels = np.array([[True, True], [False, True]])
    known = np.array([[True, False], [True, False]])
    assert shares(labels, known).tolist() == [0.5, 0.0]


def put_kuairec(folder: Path, *, lengths: bool, missing: int = 1) -> Context:
    """Twelve people, ten videos; some pairs are missing, and some rows have no time."""
    place = folder / "kuairec"
    place.mkdir()
    header = ["user_id", "video_id", "play_duration", "video_duration", "time", "date", "timestamp", "watch_ratio"]
    rows = []
    for user in range(14, 26):
        for video, seconds in ((148, 5000), (183, 9000), (20, 100), *((3640 + each, 7000) for each in range(7))):
            if video == 20 and user >= 26 - missing:
                continue
            ratio = 3.5 if video == 148 else 2.0 if user == 14 else 0.5
            stamp = "" if user == 19 else "1593897600.5"
            rows.append([user, video, seconds * ratio, seconds, "x", 20200705, stamp, ratio])
    kept = [place for place, name in enumerate(header) if lengths or name != "video_duration"]
    lines = [",".join(str(row[place]) for place in kept) for row in [header, *rows]]
    (place / "small_matrix.csv").write_text("\n".join(lines) + "\n")
    return Context(folder=folder)


def test_kuairec_is_read_with_the_length_of_its_videos(tmp_path):
    world = kuairec_world(put_kuairec(tmp_path, lengths=True))
    assert world is not None
    # videos by id: 20, 148, 183 and seven more; a ratio of exactly 2 is not a positive
    assert world.attribute.tolist() == [100.0, 5000.0, 9000.0, *[7000.0] * 7]
    assert world.labels.tolist() == [[False, True, *[False] * 8]] * 12
    assert world.known.sum() == 119
    assert not world.known[11, 0]
    assert "length of the video" in world.origin


def test_kuairec_without_lengths_gets_a_made_attribute(tmp_path):
    world = kuairec_world(put_kuairec(tmp_path, lengths=False))
    assert world is not None
    assert "length of the videos is not available" in world.origin
    assert "simulated attribute" in world.differs
    assert "Gaussian copula" in world.origin
    assert len(world.attribute) == 10


def test_kuairec_with_many_missing_pairs_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"not complete: 2\.5% .* users 23 \(1 cells\), .*; items 20 \(3 cells\)"):
        kuairec_world(put_kuairec(tmp_path, lengths=True, missing=3))


def test_kuairec_in_parts_is_no_world(tmp_path):
    assert kuairec_world(Context(folder=tmp_path)) is None


def test_a_log_parts_the_known_pairs():
    world = tiny_world()
    world.known[0, :10] = False
    log = draw_log(world, np.random.default_rng(0), sampled=20, part=0.1, validated=0.1)
    cells = np.zeros(world.labels.shape, dtype=int)
    train, uniform, validation = log.parts.train, log.parts.uniform, log.parts.validation
    for part in (train, uniform, validation):
        cells[part.users, part.items] += 1
        assert part.values is not None
        np.testing.assert_array_equal(part.values, world.labels[part.users, part.items])
        assert (part.n_users, part.n_items) == world.labels.shape
    np.testing.assert_array_equal(cells + log.held, world.known.astype(int))
    np.testing.assert_array_equal(np.bincount(train.users), np.rint(TRAINED * world.known.sum(axis=1)).astype(int))
    assert len(uniform) == len(validation) == round(0.1 * 20 * 40)
    np.testing.assert_array_equal(log.relevant, log.held & world.labels)
    assert log.population.sum() == log.held.sum()


def test_a_uniform_sample_that_cannot_be_parted_is_refused():
    with pytest.raises(ConfigError, match="cannot be made"):
        draw_log(tiny_world(), np.random.default_rng(0), part=0.8)


def test_the_log_leans_to_small_attributes():
    # were the draw uniform, the mean place of 40 x 37 logged items would be normal around 44.5 with an s.e. below 0.7
    log = tiny_log()
    place = np.argsort(np.argsort(log.world.attribute))
    assert place[log.parts.train.items].mean() < 44.5 - 10 * 0.7


@pytest.mark.parametrize("size", [1, 2])
def test_gumbel_draws_are_weighted_draws_without_replacement(size):
    # pairs by enumeration; each frequency within 5 standard errors: P(any of 6 off) < 4e-6
    chances = np.array([0.5, 0.3, 0.2, 0.0])
    allowed = np.ones((20_000, 4), dtype=bool)
    allowed[:, 3] = False
    logs_ = np.log([0.5, 0.3, 0.2, 0.9])  # the last is not allowed, so its weight does not matter
    picked = gumbel_top(logs_, np.full(len(allowed), size), allowed, np.random.default_rng(5))
    assert (picked.sum(axis=1) == size).all()
    if size == 1:
        expected = chances
    else:
        after = [sum(p * q / (1 - p) for j, p in enumerate(chances) if j != i) for i, q in enumerate(chances)]
        expected = chances + after
    error = np.sqrt(expected * (1 - expected) / len(allowed))
    assert (np.abs(picked.mean(axis=0) - expected) <= 5 * error).all()


def test_no_item_more_than_is_allowed_is_picked():
    allowed = np.array([[True, False, False]])
    assert gumbel_top(np.zeros(3), np.array([2]), allowed, np.random.default_rng(0)).tolist() == [[True, False, False]]


def test_draws_are_distinct_held_and_uniform():
    log, rng = tiny_log(), np.random.default_rng(4)
    times = np.zeros(log.held.shape)
    for _ in range(400):
        drawn = draw_exposed(log.held, 6, rng)
        assert np.take_along_axis(log.held, drawn, axis=1).all()
        assert all(len(set(row)) == 6 and row == sorted(row) for row in drawn.tolist())
        np.put_along_axis(times, drawn, np.take_along_axis(times, drawn, axis=1) + 1, axis=1)
    expected = 400 * 6 / log.population
    z = (times - expected[:, None]) / np.sqrt(expected * (1 - 6 / log.population))[:, None]
    assert np.abs(z[log.held]).max() < 5.5  # about 2,000 cells: P < 2e-4 by the normal, for this seed it is fixed


def test_more_than_there_is_cannot_be_drawn():
    with pytest.raises(ConfigError, match="draw fewer"):
        draw_exposed(tiny_log().held, 91, np.random.default_rng(0))


def test_chances_of_a_positive_are_hypergeometric():
    log = tiny_log()
    chances = chances_of(log, 6)
    assert ((chances > 0) == log.relevant.any(axis=1)).all()
    for user, (n, among) in enumerate(zip(log.relevant.sum(axis=1), log.population, strict=True)):
        assert chances[user] == pytest.approx(1 - comb(int(among - n), 6) / comb(int(among), 6))
