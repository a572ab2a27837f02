from collections.abc import Callable

import numpy as np
import pytest

from unskew.errors import ConfigError
from unskew.models import Model
from unskew.ranking import MatrixScorer, Ranks
from unskew.simulators import Marketplace, World
from unskew.testing.worlds.true_worlds import Place, count_places, draw_world, make_world
from unskew.trials import Learnt, Oracle, Random, judged_rows, parse_recommender, resolve_recommenders


def placed(ranks: Ranks) -> dict[tuple[int, int], Place]:
    assert ranks.listed is not None
    columns = (ranks.users, ranks.items, ranks.above, ranks.tied, ranks.candidates, ranks.listed)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(user, item): Place(*place) for user, item, *place in rows}


@pytest.mark.parametrize("ties", ["expected", "ordinal"])
@pytest.mark.parametrize("word", ["oracle", "oracle(graded)", "popular", "random"])
def test_places_are_those_counted_candidate_by_candidate(word: str, ties: str) -> None:
    cold = disliked = 0
    for seed in range(40):
        world = draw_world(seed)
        judged = judged_rows(world)
        ranks = parse_recommender(word).rank(judged, world, ties=ties)  # type: ignore[arg-type]
        assert placed(ranks) == count_places(world, word, ordinal=ties == "ordinal"), seed
        cold += int(np.sum(judged.counts[judged.items] == 0))
        disliked += int(np.sum(~judged.in_truth))
    assert cold > 20
    assert disliked > 20


def test_popular_by_hand() -> None:
    # training counts of items 0 to 4: 2, 2, 1, 1, 0; user 0 has item 0, so the candidates are 1 | 2, 3
    world = make_world(
        {0: [0, 1, 3, 4]},
        {0: [0], 1: [0, 1], 2: [1, 2, 3]},
        {0: {3: 0.5}},
        n_users=3,
        n_items=5,
    )
    ranks = parse_recommender("popular").rank(judged_rows(world), world)
    assert placed(ranks) == {(0, 1): Place(0, 0, 3, 3), (0, 3): Place(1, 1, 3, 3), (0, 4): Place(3, 0, 3, 3)}
    ranks = parse_recommender("popular").rank(judged_rows(world), world, ties="ordinal")
    assert ranks.above.tolist() == [0, 2, 3]
    assert ranks.spread.tolist() == [0, 0, 0]


@pytest.mark.parametrize("ties", ["expected", "ordinal"])
def test_the_kernel_agrees_with_the_closed_forms(ties: str) -> None:
    world = Marketplace(users=150, items=60).draw(3)
    judged = judged_rows(world)
    closed = parse_recommender("popular").rank(judged, world, ties=ties)  # type: ignore[arg-type]
    general = Learnt(Model.from_word("popular")).rank(judged, world, ties=ties)  # type: ignore[arg-type]
    assert placed(closed) == placed(general)
    constant = Learnt(lambda world: MatrixScorer(np.zeros((world.n_users, world.n_items))))
    assert placed(Random().rank(judged, world)) == placed(constant.rank(judged, world))


@pytest.mark.parametrize("seed", range(5))
def test_the_kernel_agrees_where_items_are_cold(seed: int) -> None:
    world = draw_world(seed)
    judged = judged_rows(world)
    learnt = Learnt(Model.from_word("popular")).rank(judged, world)
    assert placed(learnt) == count_places(world, "popular")


def test_a_user_whom_a_model_does_not_know_has_an_empty_list() -> None:
    world = make_world(
        {0: [0, 1], 1: [1, 2], 2: [0, 2]},
        {0: [0], 1: [1], 2: []},
        {0: {1: 0.5}, 1: {2: 0.5}, 2: {0: 0.5}},
        n_users=3,
        n_items=3,
    )
    ranks = Learnt(Model.from_word("item-knn")).rank(judged_rows(world), world)
    assert ranks.listed is not None
    by_user = dict(zip(ranks.users.tolist(), ranks.listed.tolist(), strict=True))
    assert by_user == {0: 1, 1: 1, 2: 0}


def test_recommenders_are_named_by_word_or_as_given() -> None:
    def score(world: World) -> MatrixScorer:
        return MatrixScorer(np.zeros((world.n_users, world.n_items)))

    given: dict[str, str | Callable[[World], MatrixScorer]] = {"a": "oracle", "b": score, "c": "als"}
    named = resolve_recommenders(given)
    assert named["a"] == Oracle()
    assert [each.ranks_strangers for each in named.values()] == [True, False, False]
    assert list(resolve_recommenders([Oracle(graded=True), "popular"])) == ["oracle(graded)", "popular"]


def test_what_cannot_be_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match=r"unknown recommender 'oracel'.*oracle"):
        parse_recommender("oracel")
    with pytest.raises(ConfigError, match="appears twice"):
        resolve_recommenders(["popular", "popular"])
    with pytest.raises(ConfigError, match="no recommender"):
        resolve_recommenders([])
    world = draw_world(0)
    with pytest.raises(ConfigError, match="ties=optimistic: oracle has only expected and ordinal"):
        Oracle().rank(judged_rows(world), world, ties="optimistic")
