"""Steam Video Games: the purchases of 12,393 players, 5,155 games."""

import zipfile
from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate, read_columns
from unskew.errors import DataError

_ORIGINAL, _ARCHIVE, _PURCHASES = "steam-200k.csv", "steam.zip", "game_purchase.dat"
_LOG = {"user": pl.Int64, "item": pl.String, "behaviour": pl.String, "hours": pl.Float64, "zero": pl.String}
_BOUGHT = {"User_ID": pl.Int64, "Game_ID": pl.Int64}


def read(folder: Path) -> Interactions:
    """Read the purchases, from whichever form is present.

    ``steam-200k.csv`` is the original: player, game, ``purchase`` or ``play``, hours, 0.
    ``game_purchase.dat``, alone or in ``steam.zip``, has the same purchases with new ids. Of repeated pairs, one row is
    kept.
    """
    original = find(folder, _ORIGINAL)
    if original is not None:
        log = read_columns(read_content(original), original, _LOG, separator=",", quotes=True)
        bought = log.filter(pl.col("behaviour") == "purchase")
        return Interactions.from_frame(bought, name="steam-200k")
    plain, archive = find(folder, _PURCHASES), find(folder, _ARCHIVE)
    if plain is None and archive is not None:
        path, content = archive, _purchases_in(archive)
    else:
        path = plain or locate(folder, _ORIGINAL, "steam-200k")
        content = read_content(path)
    frame = read_columns(content, path, _BOUGHT, separator="\t", header=True)
    return Interactions.from_frame(frame, user="User_ID", item="Game_ID", name="steam-200k")


def _purchases_in(archive: Path) -> bytes:
    try:
        with zipfile.ZipFile(archive) as members:
            for name in members.namelist():
                if Path(name).name == _PURCHASES:
                    return members.read(name)
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{archive}: not a complete zip file; was it cut short?") from error
    raise DataError(f"{archive}: does not contain {_PURCHASES}; is it the original file?")


STEAM_200K = Source(
    name="steam-200k",
    title="Steam Video Games",
    licence="No licence text comes with the files, so no right to redistribute",
    citation="Tamber (2016). Steam Video Games. Kaggle; made from public Steam data",
    home="https://www.kaggle.com/datasets/tamber/steam-video-games",
    forms=(
        Form({_ORIGINAL: None}),
        Form(
            {_ARCHIVE: "befdc608cb06f83b97f9d7a34437ca3d76a8ad648dd9304d837ebe3fdf92a77e"},
            note="with new ids, as prepared by CaseRecommender",
        ),
        Form({_PURCHASES: None}, note="with new ids, as prepared by CaseRecommender"),
    ),
    reader=read,
    how_to_get=(
        "Log in to Kaggle, download steam-200k.csv from the official home and put it into the folder; or "
        "take Processed Datasets/Steam/steam.zip from "
        "https://github.com/caserec/Datasets-for-Recommender-Systems"
    ),
)
