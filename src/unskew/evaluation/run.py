"""What every stage of an evaluation needs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from unskew.data import Interactions, Split
from unskew.errors import DataError
from unskew.evaluation.settings.settings import Settings
from unskew.progress import Stage, stage
from unskew.ranking import Engine


@dataclass(frozen=True, eq=False)
class Run:
    """The data, what was asked of it, and where the work is done.

    Parameters
    ----------
    split : Split
        Under the candidate rule of the run.
    settings : Settings
    engine : Engine
        Where blocks of users are scored.
    threads : int, optional
        Of training and of sums; the numbers do not depend on it.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.
    """

    split: Split
    settings: Settings
    engine: Engine
    threads: int | None = None
    progress: Stage | None = None

    @cached_property
    def positives(self) -> Interactions:
        """The training positives, which popularity is counted on and models learn from."""
        train, positive = self.split.train, self.settings.positive
        if positive is None:
            return train
        try:
            return train.where(positive)
        except DataError:  # train lacks that column, so all its rows are positives
            return train

    def with_settings(self, settings: Settings) -> "Run":
        """The same run under other settings."""
        return replace(self, settings=settings)

    def doing(self, what: str, model: str) -> Callable[[int, int], None] | None:
        """The progress of one model, as a function of done and total; None where nobody asks."""
        return stage(self.progress, model, what)
