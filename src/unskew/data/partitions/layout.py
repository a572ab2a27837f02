"""The layout of a data set by user: how many parts it has, in a file next to them."""

import json
from pathlib import Path
from typing import Any

from unskew.data.partitions.locations import is_url, read_bytes
from unskew.errors import DataError, UnskewError

LAYOUT = "_unskew.json"
"""The file of a data set that says how many parts it has."""
VERSION = 1
MOST = 100_000
"""The largest number of parts."""


def part_name(part: int) -> str:
    """The file name of a part."""
    return f"part-{part:05d}.parquet"


def layout_of(location: str) -> int | None:
    """The number of parts of a data set that was written by user; None for any other layout."""
    layout = read_layout(location)
    parts = layout.get("partitions")
    if layout and (layout.get("version") != VERSION or type(parts) is not int or not 1 <= parts <= MOST):
        raise DataError(f"{location}: cannot read its {LAYOUT}; write the data set again with 'unskew partition'")
    return parts


def read_layout(location: str) -> dict[str, Any]:
    """The content of the layout file; empty if there is none."""
    place = f"{location.rstrip('/')}/{LAYOUT}"
    if not is_url(place) and not Path(place).is_file():
        return {}
    try:
        layout = json.loads(read_bytes(place))
    except FileNotFoundError:
        return {}
    except UnskewError:
        raise
    except OSError as error:
        raise DataError(f"{place}: cannot be read ({str(error).splitlines()[0]:.80}); check the location") from None
    except (ValueError, RecursionError):
        layout = None
    return layout if isinstance(layout, dict) else {"version": None}
