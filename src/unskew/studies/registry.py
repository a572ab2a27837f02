"""The studies by name."""

from collections.abc import Mapping
from types import MappingProxyType

from unskew.errors import ConfigError, did_you_mean
from unskew.studies import lim2015, peers, schnabel2016, tian2020, truth, wang2024, yang2018
from unskew.studies.framework.study import Study

_ALL = (schnabel2016.STUDY, yang2018.STUDY, lim2015.STUDY, tian2020.STUDY, wang2024.STUDY, truth.STUDY, peers.STUDY)
STUDIES: Mapping[str, Study] = MappingProxyType({study.name: study for study in _ALL})
"""The papers that can be computed again, and the studies of our own."""


def get_study(name: str) -> Study:
    """The study of that name."""
    if name not in STUDIES:
        raise ConfigError(f"unknown study {name!r}{did_you_mean(name, STUDIES)}")
    return STUDIES[name]
