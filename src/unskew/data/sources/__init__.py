"""Readers of public data sets, one file each, and how to get the files from their owners."""

from collections.abc import Mapping
from types import MappingProxyType

from unskew.data.sources.amazon_book import AMAZON_BOOK
from unskew.data.sources.amazon_digital_music import AMAZON_DIGITAL_MUSIC
from unskew.data.sources.amazon_games import AMAZON_GAMES
from unskew.data.sources.amazon_video_games import AMAZON_VIDEO_GAMES
from unskew.data.sources.citeulike_a import CITEULIKE_A
from unskew.data.sources.coat import COAT
from unskew.data.sources.download import fetch
from unskew.data.sources.jester import JESTER
from unskew.data.sources.kuairec import KUAIREC
from unskew.data.sources.kuairec_truth import KUAIREC_TRUTH
from unskew.data.sources.lastfm_hetrec2011 import LASTFM_HETREC2011
from unskew.data.sources.million_song import MILLION_SONG
from unskew.data.sources.movielens_1m import MOVIELENS_1M
from unskew.data.sources.movielens_1m_rel import MOVIELENS_1M_REL
from unskew.data.sources.movielens_10m import MOVIELENS_10M
from unskew.data.sources.movielens_100k import MOVIELENS_100K
from unskew.data.sources.source import Form, Source, cache_folder, data_folder
from unskew.data.sources.status import Status, status_of
from unskew.data.sources.steam_200k import STEAM_200K
from unskew.data.sources.steam_australian import STEAM_AUSTRALIAN
from unskew.data.sources.tradesy import TRADESY
from unskew.data.sources.yahoo_r3 import YAHOO_R3
from unskew.errors import ConfigError, did_you_mean

__all__ = ["SOURCES", "Form", "Source", "Status", "cache_folder", "data_folder", "fetch", "get_source", "status_of"]

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        source.name: source
        for source in (
            MOVIELENS_100K,
            MOVIELENS_1M,
            MOVIELENS_1M_REL,
            MOVIELENS_10M,
            COAT,
            JESTER,
            CITEULIKE_A,
            LASTFM_HETREC2011,
            MILLION_SONG,
            STEAM_200K,
            STEAM_AUSTRALIAN,
            AMAZON_VIDEO_GAMES,
            AMAZON_GAMES,
            AMAZON_DIGITAL_MUSIC,
            AMAZON_BOOK,
            TRADESY,
            KUAIREC,
            KUAIREC_TRUTH,
            YAHOO_R3,
        )
    }
)
"""The data sets by name."""


def get_source(name: str) -> Source:
    """The data set of that name."""
    if name not in SOURCES:
        raise ConfigError(f"unknown data set {name!r}{did_you_mean(name, SOURCES)}")
    return SOURCES[name]
