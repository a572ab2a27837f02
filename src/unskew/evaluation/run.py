"""`Run`: the data, the settings and the engine, which every stage of an evaluation needs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from unskew.data import Interactions, Split
from unskew.errors import DataError
from unskew.evaluation.settings.settings import Settings
from unskew.progress import Stage, stage
from unskew.ranking import Engine


@dataclass(frozen=True, eq=False)
class Run:
    """The data, the settings, and the engine that does the work."""

    split: Split  # under the candidate rule of the run
    settings: Settings
    engine: Engine  # where blocks of users are scored
    threads: int | None = None  # of training and of sums; the numbers do not depend on it
    progress: Stage | None = None  # called as progress(stage, done, total)
    partial: bool = False  # whether the split is a part of a larger one, and may have no judged row

    @cached_property
    def positives(self) -> Interactions:
        """The training positives; popularity is counted on them, and models learn from them."""
        train, positive = self.split.train, self.settings.positive
        if positive is None:
            return train
        try:
            return train.where(positive)
        except DataError:  # train lacks that column, so all its rows are positives
            return train

    def doing(self, what: str, model: str) -> Callable[[int, int], None] | None:
        """The progress of one model, as a function of done and total; None without a progress callback."""
        return stage(self.progress, model, what)
