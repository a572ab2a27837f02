"""The description of a public data set, and the folders where its files are kept."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unskew.data.interactions import Interactions
from unskew.data.split import Split
from unskew.errors import ConfigError


@dataclass(frozen=True)
class Form:
    """One set of files from which a data set can be read.

    Parameters
    ----------
    files : mapping of str to (str or None)
        File names, each with the sha256 of its content, or None if it could not be verified. The content is unzipped
        and has LF line ends, so that copies which differ only in packing agree.
    whole : bool
        Whether these files are the whole data set, and not a part or a derived form of it.
    note : str
        What is special about this form.
    """

    files: Mapping[str, str | None]
    whole: bool = True
    note: str = ""


@dataclass(frozen=True)
class Source:
    """A public data set: where to get it, what its owner asks for, and how it is read.

    The files are never part of this package. `fetch` downloads them from the owner, if that is possible.

    Parameters
    ----------
    name : str
        Name of the data set and of its folder.
    title : str
        What the owner calls it.
    licence : str
        Licence or terms of use, in short.
    citation : str
        What to cite.
    home : str
        The official page.
    forms : tuple of Form
        The sets of files that can be read; the first is what the owner offers.
    reader : callable
        Makes interactions from the folder that holds the files.
    extras : mapping of str to (str or None)
        Further files that are kept when they come with a download; names and checksums as in `Form`.
    download : str, optional
        Address of the file or archive, if there is a direct one.
    how_to_get : str
        What to do by hand.
    split_reader : callable, optional
        Makes a split from the folder, for sets that come with their own test.
    """

    name: str
    title: str
    licence: str
    citation: str
    home: str
    forms: tuple[Form, ...]
    reader: Callable[[Path], Interactions]
    extras: Mapping[str, str | None] = field(default_factory=dict)
    download: str | None = None
    how_to_get: str = ""
    split_reader: Callable[[Path], Split] | None = None

    @property
    def files(self) -> dict[str, str | None]:
        """All file names that are known, with their checksums."""
        needed = {name: digest for form in self.forms for name, digest in form.files.items()}
        return {**needed, **self.extras}

    def read(self, folder: str | Path | None = None) -> Interactions:
        """Read the log; for a set with its own test, the train part.

        Parameters
        ----------
        folder : path, optional
            Where the set's own files are; by default its place in `data_folder`.
        """
        return self.reader(self.place(folder))

    def read_split(self, folder: str | Path | None = None) -> Split:
        """Read train and test of a set that comes with its own test.

        Parameters
        ----------
        folder : path, optional
            As in `read`.
        """
        if self.split_reader is None:
            raise ConfigError(f"{self.name} has no test set of its own; read the log and split it")
        return self.split_reader(self.place(folder))

    def place(self, folder: str | Path | None = None) -> Path:
        """The folder given, or this set's place in `data_folder`."""
        return data_folder() / self.name if folder is None else Path(folder)


def data_folder() -> Path:
    """The folder that has one folder per data set.

    The environment variable ``UNSKEW_DATA``, else ``unskew`` in the user's data directory (that of the XDG
    base directory specification).
    """
    chosen = os.environ.get("UNSKEW_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return _base("XDG_DATA_HOME", ".local/share") / "unskew"


def cache_folder() -> Path:
    """The folder of the trained models of studies: ``unskew`` in the user's cache directory (XDG)."""
    return _base("XDG_CACHE_HOME", ".cache") / "unskew"


def _base(variable: str, default: str) -> Path:
    base = Path(os.environ.get(variable, ""))
    # The specification says that a relative path there is to be ignored.
    return base if base.is_absolute() else Path.home() / default
