"""A small randomly exposed sample that models learn from."""

from collections.abc import Iterator

from unskew.data import Interactions, Split
from unskew.data.exposed import check_labels, within
from unskew.errors import DataError
from unskew.evaluation.validation import count_shared


def take_uniform(uniform: Interactions, split: Split) -> Interactions:
    """The sample in the codes of the split.

    Raises
    ------
    DataError
        When a label is neither 0 nor 1, or no row is of a user and an item that the split knows.
    """
    check_labels(uniform.values, uniform.name)
    taken = within(uniform, split)
    if not len(taken):
        raise DataError(
            f"{uniform.name}: none of {len(uniform):,} uniform rows is of a user and an item of train or test; are the "
            "ids the same?"
        )
    return taken


def uniform_doubts(uniform: Interactions, taken: Interactions, split: Split) -> Iterator[str]:
    """Say what was left out of the sample, and when models learn from what they are judged on.

    Parameters
    ----------
    uniform, taken : Interactions
        As given, and in the codes of the split.
    split : Split
    """
    if uniform.duplicates:
        yield f"uniform: {uniform.duplicates:,} repeated (user, item) rows left out"
    if len(taken) < len(uniform):
        yield f"{len(uniform) - len(taken):,} of {len(uniform):,} uniform rows are of unknown users or items: left out"
    if shared := count_shared(taken, split.test):
        yield (
            f"{shared:,} of {len(taken):,} uniform rows are also in the test: models learn from what they are judged "
            "on, so their numbers are too good; keep the two apart"
        )
    if split.validation is not None and (shared := count_shared(taken, split.validation)):
        yield f"{shared:,} of {len(taken):,} uniform rows are also in validation: it chooses models that have seen it"
