"""What your recommender's offline metrics would be if the log were not skewed, and how sure that is."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from unskew.audit import Audit
    from unskew.audit.audit import audit
    from unskew.data import Interactions, Split, write_qrels
    from unskew.errors import ConfigError, DataError, PropensityError, UnskewError, UnskewWarning
    from unskew.evaluation import Report, compare
    from unskew.evaluation.evaluate import evaluate
    from unskew.ranking import Predictions, Ranks, write_run

__all__ = [
    "Audit",
    "ConfigError",
    "DataError",
    "Interactions",
    "Predictions",
    "PropensityError",
    "Ranks",
    "Report",
    "Split",
    "UnskewError",
    "UnskewWarning",
    "audit",
    "compare",
    "evaluate",
    "write_qrels",
    "write_run",
]

_HOMES = {
    "Interactions": "unskew.data",
    "Split": "unskew.data",
    "Audit": "unskew.audit",
    "Report": "unskew.evaluation",
    "audit": "unskew.audit",
    "compare": "unskew.evaluation",
    "evaluate": "unskew.evaluation",
    "Predictions": "unskew.ranking",
    "Ranks": "unskew.ranking",
    "write_qrels": "unskew.data",
    "write_run": "unskew.ranking",
    "ConfigError": "unskew.errors",
    "DataError": "unskew.errors",
    "PropensityError": "unskew.errors",
    "UnskewError": "unskew.errors",
    "UnskewWarning": "unskew.errors",
}


def __getattr__(name: str) -> Any:
    # names are loaded when first used, so that importing the package costs next to nothing
    if name not in _HOMES:
        raise AttributeError(f"module 'unskew' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name])
    return home if home.__name__ == f"unskew.{name}" else getattr(home, name)  # a callable package is a module too


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
