"""The models of a run over parts: each gives a scorer of the users of a part."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from unskew.arrays import Ints
from unskew.data.partitions import Parts, read_file, schema_of
from unskew.data.vocabulary import Vocabulary, canonical, vocabulary_of
from unskew.errors import ConfigError
from unskew.evaluation.fitting.models import Fitted
from unskew.models import Model
from unskew.models.popular import Popular, popular_scorer
from unskew.ranking import ListScorer, Predictions, Ranks, Scorer
from unskew.ranking.model_files import scores_from_frame
from unskew.ranking.scorers import kind_of
from unskew.ranking.user_rows import UserRows


class PartModel(Protocol):
    """A model of a run over parts."""

    def of(self, part: int, users: Vocabulary) -> Fitted:
        """The model of the users of a part."""
        ...


@dataclass(frozen=True)
class PartTable:
    """A table of scores, top-N lists or predicted ratings, as a data set with the same parts as the log.

    Its columns are ``score``, ``rank`` or ``prediction``, next to those of users and items.
    """

    parts: Parts

    def read(self, part: int) -> ListScorer:
        """The table of a part."""
        columns, name = self.parts.columns, self.parts.files[part]
        frame = read_file(name)
        if frame.is_empty():
            nothing = np.empty(0, dtype=np.int64)
            ratings = "prediction" in frame.columns
            return ListScorer(np.zeros(1, np.int64), nothing, np.empty(0), 0, nothing, nothing, name, ratings=ratings)
        scorer = scores_from_frame(frame, user=columns.user, item=columns.item, name=name)
        self.parts.check_users(canonical(frame[columns.user], name), part)
        return scorer

    @property
    def predicts_only(self) -> bool:
        """Whether it holds predicted ratings."""
        columns = schema_of(self.parts.files[0])
        return "prediction" in columns and not {"score", "rank"} & set(columns)

    def items(self, part: int) -> Vocabulary:
        """The items of a part."""
        return vocabulary_of(np.asarray(self.read(part).item_ids), "items")[0]


@dataclass(frozen=True, eq=False)
class WholeModel:
    """A model of all users in memory or in a memory map."""

    rows: UserRows

    def of(self, part: int, users: Vocabulary) -> Fitted:
        """The rows of these users."""
        scorer = self.rows.of(users)
        whole = self.rows.scorer
        if isinstance(whole, ListScorer) and whole.ratings:
            return Fitted(scorer, scorer, kind_of(whole))
        predictor = scorer if getattr(whole, "ratings", False) else None
        return Fitted(scorer, predictor, kind_of(whole))


@dataclass(frozen=True, eq=False)
class TableModel:
    """A table that is read part by part."""

    table: PartTable
    items: Vocabulary  # of all parts, because an item that is listed elsewhere is known too

    def of(self, part: int, users: Vocabulary) -> Fitted:
        """The table of the part."""
        scorer = self.table.read(part)
        places = self.items.encode(canonical(np.asarray(scorer.item_ids), "item_ids"))
        scorer = replace(scorer, columns=places[scorer.columns], n_items=len(self.items), item_ids=self.items.ids)
        if scorer.ratings:
            return Fitted(scorer, scorer, type(scorer).__name__)
        return Fitted(scorer, None, type(scorer).__name__)


@dataclass(frozen=True, eq=False)
class PopularModel:
    """The built-in `popular`, from the counts of the whole log."""

    word: str
    items: Vocabulary
    counts: Ints  # positive training rows of each item

    def of(self, part: int, users: Vocabulary) -> Fitted:
        """The same scores for all users."""
        known = np.flatnonzero(self.counts)
        scorer = popular_scorer(self.counts[known], users.ids, self.items.ids[known], self.word)
        return Fitted(scorer, None, self.word, learnt=True)


def part_models(
    models: Mapping[str, Any], items: Vocabulary, counts: Ints, tables: Mapping[str, Vocabulary]
) -> dict[str, PartModel]:
    """The models of a run.

    Parameters
    ----------
    models : mapping
        As given to `evaluate`, frames read.
    items : Vocabulary
        All items of the log.
    counts : array
        Positive training rows of each.
    tables : mapping
        Items of the tables that are read part by part, by model.
    """
    return {name: _part_model(name, model, items, counts, tables) for name, model in models.items()}


def _part_model(name: str, model: Any, items: Vocabulary, counts: Ints, tables: Mapping[str, Vocabulary]) -> PartModel:
    if isinstance(model, PartTable):
        return TableModel(model, tables[name])
    if isinstance(model, Popular):
        return PopularModel(str(model), items, counts)
    assert isinstance(model, Scorer)
    return WholeModel(UserRows(model, name))


def check_part_models(models: Mapping[str, Any]) -> dict[str, Any]:
    """The models, words of built-in ones parsed; those that cannot be judged part by part are refused by name."""
    checked = {}
    for name, given in models.items():
        model = Model.from_word(given) if isinstance(given, str) else given
        if isinstance(model, tuple):
            raise ConfigError(f"model {name!r}: give one part that ranks, or one that predicts, in a run over parts")
        if isinstance(model, Ranks | Predictions):
            raise ConfigError(
                f"model {name!r}: saved {type(model).__name__.lower()} are of one split in memory; give its factors, "
                "its scores, or an object with a method score(users)"
            )
        if isinstance(model, Model) and not isinstance(model, Popular):
            raise ConfigError(
                f"model {name!r}: {model} is trained on a log in memory; train it elsewhere and give its factors or "
                "scores, or use popular"
            )
        if not isinstance(model, PartTable | Model | Scorer):
            raise ConfigError(
                f"model {name!r} is {type(model).__name__}; give factors, a table of scores, popular, or an object "
                "with a method score(users)"
            )
        checked[name] = model
    return checked
