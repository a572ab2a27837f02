"""Progress of work that is told one by one."""

from collections.abc import Callable

from unskew.evaluation.stages import Stage


def counting(progress: Stage | None, stage: str, done: int, total: int) -> Callable[[], None]:
    """A function to call after each piece of work; the stage is told of at once, unless there is nothing to do.

    Examples
    --------
    >>> tell = counting(lambda stage, done, total: print(stage, done, total), "drawing", 1, 2)
    drawing 1 2
    >>> tell()
    drawing 2 2
    """
    if progress is None or not total:
        return lambda: None
    so_far = done
    progress(stage, so_far, total)

    def tell() -> None:
        nonlocal so_far
        so_far += 1
        progress(stage, so_far, total)

    return tell
