"""Named settings of an evaluation, as papers used them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from unskew.errors import ConfigError, did_you_mean


@dataclass(frozen=True)
class Preset:
    """Settings of an evaluation."""

    title: str  # the paper, and what the settings mean
    settings: Mapping[str, Any]  # keyword arguments of `evaluate`


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "yang2018": Preset(
            "The protocol of Yang et al. (2018): the user's test positives and 200 items drawn from those the user has "
            "not had; a held-out item ranks before those it ties with; the correction is a ratio for each user, and "
            "leaves out items without a training row.",
            MappingProxyType(
                {
                    "metrics": ("auc", "recall@5", "adg", "adg@5"),
                    "estimators": ("aoa", "snips(per=user)"),
                    "propensity": "popularity(gamma=auto, smoothing=0)",
                    "candidates": "sampled(200)",
                    "ties": "optimistic",
                }
            ),
        )
    }
)
"""Settings of `evaluate` by name."""


def get_preset(name: str) -> dict[str, Any]:
    """The settings of that name, as keyword arguments of `evaluate`.

    Examples
    --------
    >>> from unskew.evaluation import get_preset
    >>> get_preset("yang2018")["candidates"]
    'sampled(200)'
    """
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}{did_you_mean(name, PRESETS)}")
    settings = PRESETS[name].settings
    return {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}
