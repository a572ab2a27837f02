import hashlib
import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from unskew.cli.datasets import datasets_app
from unskew.data.sources import SOURCES, Form, get_source
from unskew.errors import ConfigError, DataError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(datasets_app, list(arguments))


def test_the_listing_shows_all_that_a_user_must_know(folder):
    result = run()
    assert result.exit_code == 0
    for source in SOURCES.values():
        for text in (source.name, source.licence, source.citation, source.home):
            assert text in result.stdout
    assert result.stdout.count("absent") >= len(SOURCES)
    assert "not pinned" in result.stdout
    assert str(folder) in result.stdout


def test_json_goes_to_stdout_alone():
    result = run("--json")
    records = json.loads(result.stdout)
    assert [record["name"] for record in records] == list(SOURCES)
    assert {"licence", "citation", "home", "presence", "checksum", "files"} <= set(records[0])
    assert result.stderr == ""


def test_a_damaged_file_is_seen(folder):
    (folder / "ml-100k").mkdir()
    (folder / "ml-100k" / "u.data").write_text("1\t2\t3\t4\n")
    first = json.loads(run("--json").stdout)[0]
    assert (first["presence"], first["checksum"], first["differing"]) == ("present", "differs", ["u.data"])
    assert "differs: u.data" in run().stdout


def test_the_folder_can_be_named(tmp_path):
    (tmp_path / "else" / "kuairec").mkdir(parents=True)
    (tmp_path / "else" / "kuairec" / "small_matrix.csv").write_text("")
    found = {
        one["name"]: one["presence"] for one in json.loads(run("--json", "--folder", str(tmp_path / "else")).stdout)
    }
    assert found["kuairec"] == "present"
    assert found["coat"] == "absent"


def test_show_says_how_to_get_it_and_which_files_there_are(folder):
    result = run("show", "coat")
    assert result.exit_code == 0
    for text in ("unskew datasets get coat", str(folder / "coat"), "train.ascii: not here; sha256 f9088c6e"):
        assert text in result.stdout
    assert json.loads(run("show", "coat", "--json").stdout)["name"] == "coat"


@pytest.mark.parametrize("command", ["show", "get"])
def test_an_unknown_name_gets_the_nearest(command):
    error = run(command, "coats").exception
    assert isinstance(error, ConfigError)
    assert "did you mean 'coat'" in str(error)


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.download is None])
def test_get_without_a_direct_download_says_what_to_do(name, folder):
    error = run("get", name).exception
    assert isinstance(error, DataError)
    assert get_source(name).how_to_get in str(error)
    assert "\n" not in str(error)
    assert not list(folder.iterdir())


def test_yahoo_asks_for_the_agreement():
    assert "Sign the Data Sharing Agreement" in str(run("get", "yahoo-r3").exception)


@pytest.fixture
def served(monkeypatch, tmp_path_factory):
    """A data set on a server on this machine."""
    import functools
    import threading
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    root = tmp_path_factory.mktemp("server")
    (root / "users.dat").write_text("1 0\n")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/users.dat"
        pin = hashlib.sha256(b"1 0\n").hexdigest()
        made = replace(get_source("citeulike-a"), download=address, forms=(Form({"users.dat": pin}),))
        monkeypatch.setattr("unskew.data.sources.SOURCES", {"citeulike-a": made})
        yield made
        server.shutdown()
        thread.join()


def test_get_downloads_checks_and_does_not_do_it_twice(served, folder):
    result = run("get", "citeulike-a")
    assert result.exit_code == 0, result.exception
    assert result.stdout == f"citeulike-a is in {folder / 'citeulike-a'}; checksum: holds\n"
    assert served.licence in result.stderr
    assert (folder / "citeulike-a" / "users.dat").read_text() == "1 0\n"
    assert "already in" in run("get", "citeulike-a").stdout
    (folder / "citeulike-a" / "users.dat").write_text("damaged")
    assert "checksum: holds" in run("get", "citeulike-a").stdout
    assert "checksum: holds" in run("get", "citeulike-a", "--force").stdout


def test_get_into_another_folder(served, folder):
    assert run("get", "citeulike-a", "--folder", str(folder / "else")).exit_code == 0
    assert (folder / "else" / "citeulike-a" / "users.dat").exists()


def test_a_failed_get_leaves_nothing(served, folder, monkeypatch):
    lost = replace(served, download=f"{served.download}.lost")
    monkeypatch.setattr("unskew.data.sources.SOURCES", {"citeulike-a": lost})
    error = run("get", "citeulike-a").exception
    assert isinstance(error, DataError)
    assert "404" in str(error)
    assert not list(folder.iterdir())
