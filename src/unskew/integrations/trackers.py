"""Runs written to experiment trackers: MLflow and Weights & Biases. They are imported when they are used."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unskew.errors import ConfigError, DataError, UnskewError

MOST_METRICS, MOST_PARAMETERS = 1000, 100  # of one request to MLflow
LONGEST_VALUE = 500  # characters of a parameter that every version of MLflow accepts
LONGEST_TAG = 5000
LONGEST_NAME = 250


@dataclass(frozen=True)
class Tracked:
    """What is written to a tracker.

    Parameters
    ----------
    metrics : mapping
        Name to number; names as `unskew.integrations.tracker_names.tracker_name` makes them.
    parameters : mapping
        Name to text: the settings of the run, and where its data came from.
    notes : mapping
        Name to sentence: tags in MLflow, the summary in W&B.
    files : mapping
        Name of a file to its text.
    """

    metrics: Mapping[str, float]
    parameters: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def log_mlflow(track: Callable[[], Tracked], run: Any = None, *, folder: str = "") -> str:
    """Write to a run of MLflow, and return its id.

    Parameters
    ----------
    track : callable
        Returns what to write. It is called when MLflow is there, because charts take seconds.
    run : str or mlflow.entities.Run, optional
        The id of a run, or a run; by default the active one. Without an active run one is started and ended.
    folder : str
        Folder of the artifacts.

    Raises
    ------
    ConfigError
        If MLflow is not installed, or a name is too long for it.
    DataError
        If it cannot write.
    """
    mlflow = _imported("mlflow", "mlflow-skinny")
    tracked = track()
    _check_lengths(tracked)
    with _one_line("mlflow", "check the tracking URI, its permissions, and whether the run has these parameters"):
        if run is not None:
            return _log_mlflow(mlflow, tracked, run if isinstance(run, str) else run.info.run_id, folder)
        active = mlflow.active_run()
        if active is not None:
            return _log_mlflow(mlflow, tracked, active.info.run_id, folder)
        with mlflow.start_run() as started:
            return _log_mlflow(mlflow, tracked, started.info.run_id, folder)


def _log_mlflow(mlflow: Any, tracked: Tracked, run_id: str, folder: str) -> str:
    client, now = mlflow.MlflowClient(), int(time.time() * 1000)
    metrics = [mlflow.entities.Metric(name, value, now, 0) for name, value in tracked.metrics.items()]
    parameters = [mlflow.entities.Param(name, _cut(text)) for name, text in tracked.parameters.items()]
    # parameters first, because a run that has others under these names refuses them, before any number is written
    for first in range(0, len(parameters), MOST_PARAMETERS):
        client.log_batch(run_id, params=parameters[first : first + MOST_PARAMETERS])
    for first in range(0, len(metrics), MOST_METRICS):
        client.log_batch(run_id, metrics=metrics[first : first + MOST_METRICS])
    for name, text in tracked.notes.items():
        client.set_tag(run_id, name, _cut(text, LONGEST_TAG))
    for name, text in tracked.files.items():
        client.log_text(run_id, text, f"{folder}{name}")
    return run_id


def log_wandb(track: Callable[[], Tracked], run: Any = None, *, name: str = "unskew-report") -> Any:
    """Write to a run of Weights & Biases, and return the run.

    Parameters
    ----------
    track : callable
        Returns what to write. It is called when a run is there, because charts take seconds.
    run : wandb.Run, optional
        As ``wandb.init`` returns it; by default the one that is running.
    name : str
        Of the artifact that has the files.

    Raises
    ------
    ConfigError
        If W&B is not installed, or no run was started.
    DataError
        If it cannot write.
    """
    wandb = _imported("wandb", "wandb")
    run = wandb.run if run is None else run
    if run is None:
        raise ConfigError("no run of wandb is active; start one with wandb.init(...), or pass it as run")
    tracked = track()
    with _one_line("wandb", "check the login, the folder of wandb and its permissions"):
        run.config.update(dict(tracked.parameters), allow_val_change=True)
        run.log(dict(tracked.metrics))
        run.summary.update(dict(tracked.notes))
        artifact = wandb.Artifact(name, type="evaluation")
        with tempfile.TemporaryDirectory() as place:
            for file, text in tracked.files.items():
                path = Path(place) / file
                path.write_text(text, encoding="utf-8")
                artifact.add_file(str(path), name=file)
            run.log_artifact(artifact)
    return run


def _imported(package: str, install: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] != package:  # it is there, but cannot be loaded
            raise ConfigError(f"{package} cannot be imported ({error}); check its installation") from error
        raise ConfigError(f"log_{package} needs {package}, which is not installed; pip install {install}") from None


@contextmanager
def _one_line(package: str, hint: str) -> Iterator[None]:
    """Turn any error of a tracker into one line."""
    try:
        yield
    except UnskewError:
        raise
    except Exception as error:  # trackers raise errors of their own, of requests and of the system
        words = " ".join(str(error).split())[:300] or type(error).__name__
        raise DataError(f"{package} could not write the report ({words}); {hint}") from error


def _check_lengths(tracked: Tracked) -> None:
    for name in (*tracked.metrics, *tracked.parameters):
        if len(name) > LONGEST_NAME:
            raise ConfigError(
                f"the name {name[:60]!r}... has {len(name)} characters, but MLflow takes {LONGEST_NAME}; give the "
                "model a shorter name"
            )


def _cut(text: str, most: int = LONGEST_VALUE) -> str:
    """The text, its end replaced by dots if it is too long; the JSON has all of it."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
