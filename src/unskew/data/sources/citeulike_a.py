"""citeulike-a: the libraries of 5,551 people, 204,986 of 16,980 scientific articles."""

from pathlib import Path

import numpy as np

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate
from unskew.errors import DataError


def read(folder: Path) -> Interactions:
    """Read ``users.dat``: line k holds the number of articles of user k, then their ids; all count from 0."""
    path = locate(folder, "users.dat", "citeulike-a")
    lines = read_content(path).splitlines()
    try:
        libraries = [np.array(line.split(), dtype=np.int64) for line in lines]
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path}: expected lines of whole numbers; is it the original file?") from error
    for number, library in enumerate(libraries, start=1):
        if not len(library) or library[0] != len(library) - 1:
            stated = "nothing" if not len(library) else f"{library[0]} articles and then {len(library) - 1}"
            raise DataError(f"{path}: line {number} has {stated}; was the file cut or changed?")
    if not libraries:
        raise DataError(f"{path}: the file is empty; expected one line per user")
    sizes = [len(library) - 1 for library in libraries]
    items = np.concatenate([library[1:] for library in libraries])
    return Interactions.from_arrays(np.repeat(np.arange(len(sizes)), sizes), items, name="citeulike-a")


CITEULIKE_A = Source(
    name="citeulike-a",
    title="citeulike-a",
    licence="No licence is stated, so no right to redistribute",
    citation=(
        "H. Wang, B. Chen and W.-J. Li (2013). Collaborative Topic Regression with Social Regularization for "
        "Tag Recommendation. IJCAI; C. Wang and D. M. Blei (2011). Collaborative Topic Modeling for "
        "Recommending Scientific Articles. KDD"
    ),
    home="https://github.com/js05212/citeulike-a",
    forms=(Form({"users.dat": "53211d82c14ff261e595634d285ed9fbf8049cf81dcb751d924d695b9612a02c"}),),
    reader=read,
    download="https://raw.githubusercontent.com/js05212/citeulike-a/master/users.dat",
    how_to_get="Download users.dat from the official home and put it into the folder",
)
