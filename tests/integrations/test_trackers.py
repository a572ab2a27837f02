"""Reports in trackers: against fakes that refuse what the trackers refuse."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from unskew import ConfigError, DataError, Interactions, Report, Split, evaluate
from unskew.integrations.tracker_names import from_tracker_name
from unskew.integrations.trackers import Tracked, log_mlflow, log_wandb


class FakeClient:
    """The part of `mlflow.MlflowClient` that is used, with its limits."""

    runs: dict[str, dict[str, Any]]

    def _run(self, run_id: str) -> dict[str, Any]:
        if run_id not in self.runs:
            raise RuntimeError(f"Run with id={run_id} not found")
        return self.runs[run_id]

    def log_batch(self, run_id: str, metrics: Any = (), params: Any = ()) -> None:
        assert len(metrics) <= 1000
        assert len(params) <= 100
        for each in (*metrics, *params):
            assert re.fullmatch(r"[/\w.\- ]*", each.key), each.key
        run = self._run(run_id)
        run["metrics"] |= {metric.key: metric.value for metric in metrics}
        for each in params:
            assert len(each.value) <= 500
            if run["params"].setdefault(each.key, each.value) != each.value:
                raise RuntimeError(f"Changing param values is not allowed. Param with key={each.key!r}")

    def set_tag(self, run_id: str, key: str, value: str) -> None:
        self._run(run_id)["tags"][key] = value

    def log_text(self, run_id: str, text: str, artifact_file: str) -> None:
        self._run(run_id)["files"][artifact_file] = text


class FakeRun:
    def __init__(self, mlflow: "FakeMlflow", run_id: str) -> None:
        self.mlflow, self.info = mlflow, SimpleNamespace(run_id=run_id)

    def __enter__(self) -> Self:
        self.mlflow.active = self
        return self

    def __exit__(self, *error: object) -> None:
        self.mlflow.active = None


class FakeMlflow:
    def __init__(self) -> None:
        runs: dict[str, dict[str, Any]] = {}
        self.runs, self.active = runs, None
        self.MlflowClient = type("Client", (FakeClient,), {"runs": runs})
        entity = lambda *names: lambda *values: SimpleNamespace(**dict(zip(names, values, strict=True)))  # noqa: E731
        self.entities = SimpleNamespace(Metric=entity("key", "value", "time", "step"), Param=entity("key", "value"))

    def active_run(self) -> FakeRun | None:
        return self.active

    def start_run(self) -> FakeRun:
        name = f"run{len(self.runs)}"
        self.runs[name] = {"metrics": {}, "params": {}, "tags": {}, "files": {}}
        return FakeRun(self, name)


class FakeArtifact:
    def __init__(self, name: str, type: str) -> None:  # noqa: A002
        self.name, self.type, self.files = name, type, {}

    def add_file(self, path: str, name: str) -> None:
        self.files[name] = Path(path).read_text(encoding="utf-8")


class FakeWandbRun:
    def __init__(self) -> None:
        self.config, self.summary = SimpleNamespace(update=self._configure), {}
        self.settings: dict[str, Any] = {}
        self.logged: dict[str, float] = {}
        self.artifacts: list[FakeArtifact] = []

    def _configure(self, values: dict[str, Any], *, allow_val_change: bool) -> None:
        assert allow_val_change
        self.settings |= values

    def log(self, values: dict[str, float]) -> None:
        self.logged |= values

    def log_artifact(self, artifact: FakeArtifact) -> None:
        self.artifacts.append(artifact)


@pytest.fixture(scope="module")
def report() -> Report:
    train = Interactions.from_arrays([0, 1, 2, 2], [0, 0, 0, 1], n_users=4, n_items=6)
    test = Interactions.from_arrays([0, 1, 2, 3], [1, 2, 3, 0], n_users=4, n_items=6)
    models = {"popular": "popular", "chance (7)": "svd(rank=1)"}
    return evaluate(models, Split(train, test), metrics=["recall@2", "auc"], estimators=["aoa(per=pair)", "snips"])


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> FakeMlflow:
    fake = FakeMlflow()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    return fake


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Any:
    fake = SimpleNamespace(run=None, Artifact=FakeArtifact)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return fake


def check_numbers(report: Report, numbers: dict[str, float], prefix: str = "") -> None:
    assert len(numbers) == 4 * len(report.estimates)
    for name, value in numbers.items():
        model, metric, estimator, number = from_tracker_name(name, prefix)
        assert value == getattr(report.estimate(model, metric, estimator), number)


def test_mlflow_gets_numbers_settings_verdict_and_files(report, mlflow):
    run = mlflow.runs[report.log_mlflow()]
    check_numbers(report, run["metrics"])
    assert run["params"]["unskew/estimators"] == "aoa(per=pair), snips"
    assert run["params"]["unskew/models/chance_x20__with_7_end_"] == "svd(rank=1)"
    assert run["params"]["unskew/data/test/sha256"] == report.run["data"]["test"]["sha256"]
    assert run["tags"]["unskew.verdict"].startswith(report.verdict.sentence)
    assert json.loads(run["files"]["report.json"]) == report.to_dict()
    assert run["files"]["report.html"] == report.to_html()
    assert mlflow.active is None


def test_the_active_run_is_used_and_stays_active(report, mlflow):
    with mlflow.start_run() as active:
        assert report.log_mlflow(prefix="offline/") == active.info.run_id
        assert mlflow.active is active
    run = mlflow.runs[active.info.run_id]
    check_numbers(report, run["metrics"], "offline/")
    assert set(run["files"]) == {"offline/report.json", "offline/report.html"}


@pytest.mark.parametrize("as_text", [True, False])
def test_a_run_may_be_named(report, mlflow, as_text):
    run = mlflow.start_run()
    assert report.log_mlflow(run.info.run_id if as_text else run) == "run0"
    assert mlflow.runs["run0"]["metrics"]


def test_many_numbers_go_in_several_requests(mlflow):
    tracked = Tracked({f"m{k}": float(k) for k in range(2500)}, {f"p{k}": "x" * 600 for k in range(250)})
    run = mlflow.runs[log_mlflow(lambda: tracked)]
    assert (len(run["metrics"]), len(run["params"])) == (2500, 250)
    assert run["params"]["p0"].endswith("...")


def test_undefined_numbers_are_left_out(mlflow):
    train = Interactions.from_arrays([0, 0], [0, 1], n_users=1, n_items=4)
    test = Interactions.from_arrays([0], [2], n_users=1, n_items=4)
    one = evaluate({"popular": "popular"}, Split(train, test), metrics=["recall@2"], estimators=["aoa"])
    assert list(mlflow.runs[one.log_mlflow()]["metrics"]) == ["popular/recall_at_2/aoa/value"]


def test_a_second_report_with_other_settings_is_refused_in_one_line(report, mlflow):
    run = report.log_mlflow()
    other = evaluate({"popular": "popular"}, report.inputs.split, metrics=["recall@2"], estimators=["aoa"])
    with pytest.raises(DataError, match=r"mlflow could not write the report \(Changing param") as refused:
        other.log_mlflow(run)
    assert "\n" not in str(refused.value)
    assert other.log_mlflow(run, prefix="other/") == run


def test_errors_of_a_tracker_are_one_line_with_a_hint(report, mlflow, wandb, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/mlruns")

    monkeypatch.setattr(mlflow, "start_run", refuse)
    with pytest.raises(DataError, match=r"^mlflow could not .*Permission denied.*; check the tracking URI"):
        report.log_mlflow()
    run = FakeWandbRun()
    monkeypatch.setattr(run, "log", refuse)
    with pytest.raises(DataError, match=r"^wandb could not .*Permission denied.*; check the login"):
        report.log_wandb(run)


def test_names_that_are_too_long_are_refused_before_anything_is_written(mlflow):
    with pytest.raises(ConfigError, match="shorter name"):
        log_mlflow(lambda: Tracked({"a" * 251: 1.0}))
    assert mlflow.runs == {}


def test_wandb_gets_the_same(report, wandb):
    run = FakeWandbRun()
    assert report.log_wandb(run) is run
    check_numbers(report, run.logged)
    assert run.settings["unskew/metrics"] == "recall@2, auc"
    assert run.summary["unskew.verdict"].startswith(report.verdict.sentence)
    (artifact,) = run.artifacts
    assert artifact.type == "evaluation"
    assert set(artifact.files) == {"report.json", "report.html"}


def test_wandb_uses_the_run_that_was_started(wandb):
    with pytest.raises(ConfigError, match=r"start one with wandb.init"):
        log_wandb(lambda: Tracked({"a": 1.0}))
    wandb.run = FakeWandbRun()
    assert log_wandb(lambda: Tracked({"a": 1.0})).logged == {"a": 1.0}


@pytest.mark.parametrize("package", ["mlflow", "wandb"])
def test_a_tracker_that_is_not_installed_is_named_with_a_hint(report, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(Report, "to_html", None)  # nothing is drawn for it
    with pytest.raises(ConfigError, match=rf"^log_{package} needs {package}, .* pip install {package}"):
        getattr(report, f"log_{package}")()


def test_a_wrong_prefix_is_refused(report):
    with pytest.raises(ConfigError, match="prefix='a@b'"):
        report.log_mlflow(prefix="a@b")
