"""Last.fm of HetRec 2011: how often 1,892 listeners played their top artists, 17,632 in all."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns

_COLUMNS = {"userID": pl.Int64, "artistID": pl.Int64, "weight": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read ``user_artists.dat``: listener, artist and play count, separated by tabs, with a header.

    A listener has at most 50 artists, the most played, so a missing artist may have been cut off.
    """
    path = locate(folder, "user_artists.dat", "lastfm-hetrec2011")
    frame = read_columns(read_content(path), path, _COLUMNS, separator="\t", header=True)
    return Interactions.from_frame(frame, user="userID", item="artistID", rating="weight", name="lastfm-hetrec2011")


LASTFM_HETREC2011 = Source(
    name="lastfm-hetrec2011",
    title="Last.fm, HetRec 2011",
    licence="Non-commercial use; for commercial use ask Last.fm",
    citation=(
        "I. Cantador, P. Brusilovsky and T. Kuflik (2011). Second Workshop on Information Heterogeneity and "
        "Fusion in Recommender Systems (HetRec 2011). RecSys"
    ),
    home="https://grouplens.org/datasets/hetrec-2011/",
    forms=(Form({"user_artists.dat": "254272fa721c3935e8be286d28c051b206844307128698ab4eaa41d483379416"}),),
    reader=read,
    extras={"readme.txt": None},
    download="https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
    how_to_get="Download hetrec2011-lastfm-2k.zip from the official home and put its files into the folder",
)
