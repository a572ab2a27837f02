"""Models of other packages that are not fitted, lack their data set, or do not fit the split; and their ids."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from unskew import Interactions, Split, evaluate
from unskew.errors import DataError
from unskew.integrations import is_dataset, read_model, with_ids
from unskew.ranking import FactorScorer

FAKES = Path(__file__).resolve().parent / "fakes"
PACKAGES = {path.name for path in FAKES.iterdir()}
USERS, ITEMS = [0, 0, 1, 1, 2, 2], [10, 20, 20, 30, 10, 30]


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FAKES))
    for name in [each for each in sys.modules if each.partition(".")[0] in PACKAGES]:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [each for each in sys.modules if each.partition(".")[0] in PACKAGES]:
        del sys.modules[name]


def split() -> Split:
    train = Interactions.from_arrays(USERS, ITEMS)
    return Split(train, Interactions.from_arrays([0, 1, 2], [30, 10, 20]))


def log(shift: int = 0) -> pd.DataFrame:
    return pd.DataFrame({"user_id": np.array(USERS) + shift, "item_id": np.array(ITEMS) + shift})


def of(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def als(rows: int = 3, columns: int = 3, *, fitted: bool = True) -> Any:
    model = of("implicit.als", "AlternatingLeastSquares")(factors=2)
    if fitted:
        model.fit(csr_matrix(np.eye(rows, columns)))
    return model


def cosine(matrix: Any) -> Any:
    model = of("implicit.nearest_neighbours", "CosineRecommender")()
    model.fit(csr_matrix(matrix))
    return model


def cornac(*, fitted: bool = True) -> Any:
    model = of("cornac.models", "BPR")(k=2, seed=0)
    rows = [(user, item, 1.0) for user, item in zip(USERS, ITEMS, strict=True)]
    return model.fit(of("cornac.data", "Dataset").from_uir(rows)) if fitted else model


def lightfm(users: int) -> Any:
    return of("lightfm", "LightFM")(no_components=2, random_state=0).fit(csr_matrix(np.ones((users, 3))))


def pipeline(frame: pd.DataFrame | None) -> Any:
    model = of("lenskit.pipeline", "topn_pipeline")(None, n=3)
    if frame is not None:
        model.train(frame)
    return model


def rectools(name: str, *, fitted: bool = True) -> tuple[Any, Any]:
    dataset = of("rectools.dataset", "Dataset").construct(log())
    model = of("rectools.models", name)()
    return (model.fit(dataset) if fitted else model), dataset


def strange_distance() -> Any:
    model, dataset = rectools("PureSVDModel")
    model.u2i_dist = type("Distance", (), {"name": "MANHATTAN"})()
    return model, dataset


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "implicit, not fitted": (
        lambda: als(fitted=False),
        r"nearest is implicit .*no user_factors and item_factors: is it",
    ),
    "implicit, other users": (lambda: als(5), "has 5 user rows but train and test have 3 distinct users; .*with_ids"),
    "implicit, other items": (lambda: cosine(np.eye(4)), "similarities of 4 items, but train and test have 3 distinct"),
    "implicit, other history": (
        lambda: with_ids(cosine(np.eye(3)), history=csr_matrix(np.eye(3, 5))),
        "similarities of 3 items, but its history has 5",
    ),
    "implicit, too few ids": (lambda: with_ids(als(), user_ids=[1, 2]), "2 user_ids for 3 rows"),
    "cornac, not fitted": (lambda: cornac(fitted=False), r"\(cornac.BPR\) is not fitted; call fit"),
    "rectools, no data set": (lambda: rectools("EASEModel")[0], "does not hold its ids; give .model, dataset."),
    "rectools, not fitted": (lambda: rectools("EASEModel", fitted=False), "is not fitted; call fit"),
    "rectools, unknown distance": (strange_distance, "compares vectors by manhattan; give a frame"),
    "lightfm, features": (
        lambda: with_ids(lightfm(5), user_ids=[0, 1, 2]),
        "represents 5 users or features of users, but there are 3 user ids; if it was fitted with features",
    ),
    "surprise, not fitted": (lambda: of("surprise", "SVD")(n_factors=2), r"\(surprise.SVD\) is not fitted"),
    "lenskit, not trained": (lambda: pipeline(None), "cannot score user 0 .*is it trained"),
    "lenskit, other ids": (
        lambda: pipeline(log(500)),
        "scores no item for any of 3 users, such as 0; was it trained on",
    ),
    "lenskit, no list": (lambda: of("lenskit.data", "ItemListCollection")([]), "has no list"),
    "cornac, other ids": (
        lambda: with_ids(cornac(), user_ids=["x", "y", "z"], item_ids=[10, 20, 30]),
        r"trained on other ids: none of its 3 users \(x, y, z\) is in train or test \(0, 1, 2\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_model_that_cannot_be_judged_is_refused_in_one_line(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises(DataError, match=message) as refusal:
        evaluate({"mine": make()}, split(), metrics=["recall@1"], estimators=["aoa"])
    assert "\n" not in str(refusal.value)


def test_a_pipeline_without_a_scorer_is_refused_with_its_components(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pipeline(log())
    monkeypatch.setattr(type(model), "nodes", lambda self: [type("Node", (), {"name": "ranker"})()])
    with pytest.raises(DataError, match=r"has no component 'scorer' \(it has ranker\)"):
        read_model(model, "mine", split())


def test_histories_are_the_training_rows_in_the_order_of_the_ids() -> None:
    parts = split()
    similar = np.array([[0, 2, 1], [2, 0, 5], [1, 5, 0.0]])
    model = cosine(np.eye(3))
    model.similarity = csr_matrix(similar)
    plain = read_model(model, "it", parts).score(np.arange(3))
    history = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])  # items 10, 20, 30
    assert plain.tolist() == (history @ similar).tolist()
    model.similarity = csr_matrix(similar[::-1, ::-1])
    turned = read_model(with_ids(model, user_ids=[2, 1, 0, 7], item_ids=[30, 20, 10]), "it", parts)
    assert turned.score(np.arange(4))[:3, ::-1].tolist() == plain[::-1].tolist()
    assert turned.score(np.array([3])).tolist() == [[0, 0, 0]]  # train does not have user 7


def test_vectors_of_cornac_are_used_only_if_they_are_its_scores() -> None:
    model = cornac()
    assert isinstance(read_model(model, "it", split()), FactorScorer)
    model.i_biases = model.i_biases + np.arange(3.0)
    model.get_item_vectors = lambda: np.hstack([model.i_factors, np.zeros((3, 1))])
    scorer = read_model(model, "it", split())
    assert not isinstance(scorer, FactorScorer)
    assert scorer.score(np.array([1]))[0].tolist() == model.score(1).tolist()


def test_a_pipeline_does_not_know_users_for_whom_it_scores_nothing() -> None:
    frame = log()
    scorer = read_model(pipeline(frame[frame["user_id"] != 1]), "it", split())
    assert scorer.user_ids.tolist() == [0, 2]
    assert np.isfinite(scorer.score(np.arange(2))).all()


def test_vectors_of_rectools_are_compared_as_the_model_does() -> None:
    model, dataset = rectools("PureSVDModel")
    distances = of("rectools.models", "Distance")
    model.u2i_dist = distances.COSINE
    cosines = read_model((model, dataset), "it", split())
    lengths = np.linalg.norm(cosines.user_factors, axis=1)
    assert lengths == pytest.approx(np.ones(3))
    model.u2i_dist = distances.EUCLIDEAN
    assert read_model((model, dataset), "it", split()).similarity == "distance"


def test_a_pair_of_a_model_and_its_data_set_is_one_model() -> None:
    _, dataset = rectools("EASEModel")
    assert is_dataset(dataset)
    assert not is_dataset(np.eye(2))
    with pytest.raises(DataError, match="one part that ranks"):
        evaluate({"two": (als(), als())}, split(), metrics=["recall@1"], estimators=["aoa"])


def test_sequential_models_of_recbole_score_from_the_last_row_of_each_user() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    data = import_module("recbole.data")
    rows = [{"user_id:token": str(user), "item_id:token": str(item)} for user, item in zip(USERS, ITEMS, strict=True)]
    dataset = data.Dataset(rows)
    model = of("recbole.model.general_recommender", "BPR")({"device": "cpu"}, dataset)
    model.type = "ModelType.SEQUENTIAL"
    with pytest.raises(DataError, match=r"is sequential; give \(model, test_data\)"):
        read_model((model, dataset), "it", split())
    dataset.inter_feat.interaction["item_id_list"] = torch.arange(len(USERS))
    model.full_sort_predict = lambda rows: rows["item_id_list"][:, None] * torch.ones(4)
    scorer = read_model((model, data.Loader(dataset)), "it", split())
    assert list(scorer.user_ids) == ["0", "1", "2"]
    assert scorer.score(np.arange(3)).tolist() == [[1.0] * 3, [3.0] * 3, [5.0] * 3]
