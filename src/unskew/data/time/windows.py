"""Folders of test windows: one folder per window, each with a train and a test file."""

from collections.abc import Iterator
from pathlib import Path

from unskew.data.columns import Columns
from unskew.data.split import Split
from unskew.errors import DataError, Option

_SUFFIXES = (".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz")


def window_names(number: int) -> list[str]:
    """The names of the folders, in the order of time.

    Examples
    --------
    >>> window_names(2), window_names(10)[0]
    (['window-1', 'window-2'], 'window-01')
    """
    return [f"window-{place + 1:0{len(str(number))}d}" for place in range(number)]


def window_folders(folder: Path) -> list[str]:
    """The names of the folders within a folder that have a train or a test part, in order."""
    if not folder.is_dir():
        return []
    inside = (path for path in folder.iterdir() if path.is_dir())
    return sorted(path.name for path in inside if any(_file(path, part) is not None for part in ("train", "test")))


def read_windows(folder: str | Path, columns: Columns | None = None) -> Iterator[tuple[str, Split]]:
    """Yield the name and the split of each window, the earliest first.

    A window is a folder with the files ``train`` and ``test``, and possibly ``validation``, as CSV, TSV or Parquet.
    `unskew split` with ``--rolling`` writes such folders.

    Parameters
    ----------
    folder : str or Path
        The folder that has the windows' folders.
    columns : Columns, optional
        Names of the columns of all files.

    Raises
    ------
    DataError
        If the folder has no windows, or one of another form.
    """
    folder, columns = Path(folder), columns or Columns()
    how = f"; make windows with {Option('rolling', '4x7d', 'split')}"
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder{how}")
    names = window_folders(folder)
    if not names:
        inside = " (it has a split of its own: use its files as train and test)" if _file(folder, "test") else ""
        raise DataError(f"{folder}: no folder in it has the files train and test{inside}{how}")
    files = {name: {part: _file(folder / name, part) for part in ("train", "test", "validation")} for name in names}
    for name, parts in files.items():  # before the first window is evaluated
        for part in ("train", "test"):
            path = parts[part]
            if path is None:
                raise DataError(f"{folder / name}: no file {part}.csv or {part}.parquet; each window needs one{how}")
            if path.is_dir():
                raise DataError(
                    f"{path}: this is a folder, and windows are read whole; split without {Option('partitions')}"
                )
    for name, parts in files.items():
        train, test, validation = parts["train"], parts["test"], parts["validation"]
        assert train is not None
        assert test is not None
        yield (
            name,
            Split(
                train=columns.read(train, strict=False),
                test=columns.read(test),
                validation=None if validation is None else columns.read(validation, strict=False),
                origin=f"window {name}",
            ),
        )


def _file(folder: Path, part: str) -> Path | None:
    """The file of a part, or a folder of that name; None if there is neither."""
    paths = [folder / f"{part}{suffix}" for suffix in _SUFFIXES]
    return next((path for path in [*paths, folder / part] if path.exists()), None)
