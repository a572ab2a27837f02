"""The methods and backbones of tables 3 and 4, and the settings that validation chooses from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from unskew.models.debiased import AutoDebias, Bias, DebiasedModel, Dr, Ips, NegS, PointwiseModel
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.printed import BACKBONES, METHODS

NEGS = "NegS"
DRAWN, HARDEST = 100, (10, 50, 100)
"""U, and the H that are tried."""
EPOCHS, PATIENCE, FAST_EPOCHS = 120, 30, 8


@dataclass(frozen=True)
class Entry:
    """A row of a table.

    Parameters
    ----------
    backbone, method : str
        As the paper writes them.
    hardest : int, optional
        H of a NegS that is shown by itself; without it NegS is that of the H which validation chose.
    """

    backbone: str
    method: str
    hardest: int | None = None

    def __str__(self) -> str:
        shown = "" if self.hardest is None else f", H/U = {self.hardest / DRAWN:g}"
        return f"{self.backbone} {self.method}{shown}"

    @property
    def printed(self) -> tuple[str, str] | None:
        """The row of the paper; None where it has none."""
        return None if self.hardest else (self.backbone, self.method)


ENTRIES = tuple(Entry(backbone, method) for backbone in BACKBONES for method in METHODS)
"""The ten rows of the paper."""
VARIANTS = tuple(Entry(backbone, NEGS, hardest) for backbone in BACKBONES for hardest in HARDEST)
"""NegS with every H."""
_PLAIN: Mapping[str, PointwiseModel] = {"Bias": Bias(), "IPS": Ips(), "DR": Dr(), "AutoDebias": AutoDebias()}
_WORDS: Mapping[str, Literal["mf", "lightgcn"]] = {"MF": "mf", "LightGCN": "lightgcn"}
_LOSSES: Mapping[str, Literal["squared", "bce"]] = {"MF": "squared", "LightGCN": "bce"}
_TRIED: Mapping[str, tuple[tuple[float, float], ...]] = {
    "MF": ((0.01, 1.0), (0.01, 10.0), (0.1, 10.0), (0.1, 100.0)),
    "LightGCN": ((0.1, 1.0), (0.01, 1.0), (0.1, 10.0), (0.01, 10.0)),
}
"""Learning rates and λ. The latter is for a sum over a user's rows: with 1,371 of them, 1 to 100 are a weight decay of
0.0007 to 0.07 for their mean. LightGCN had the settings of MF at first; they were changed because its factors went to 0
with λ = 10, as the AUC on validation showed."""
_NEGS: Mapping[str, NegS] = {
    "MF": NegS(learning_rate=0.1, regularisation=0.1),
    "LightGCN": NegS(learning_rate=0.01, regularisation=0.1),
}


def grid_of(context: Context, entry: Entry) -> tuple[DebiasedModel, ...]:
    """What is tried for a row: four settings, or one for each H of NegS; a small version tries one."""
    shared: dict[str, Any] = {
        "backbone": _WORDS[entry.backbone],
        "epochs": FAST_EPOCHS if context.fast else EPOCHS,
        "patience": PATIENCE,
    }
    if entry.method == NEGS:
        return tuple(
            replace(_NEGS[entry.backbone], hardest=hardest, drawn=DRAWN, **shared)
            for hardest in HARDEST
            if entry.hardest in {None, hardest}
        )
    plain = replace(_PLAIN[entry.method], loss=_LOSSES[entry.backbone], **shared)
    return tuple(replace(plain, learning_rate=rate, regularisation=penalty) for rate, penalty in _tried(context, entry))


def _tried(context: Context, entry: Entry) -> tuple[tuple[float, float], ...]:
    tried = _TRIED[entry.backbone]
    return tried[2:3] if context.fast else tried
