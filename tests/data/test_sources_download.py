"""Downloads from a server on this machine that answers well and badly."""

import contextlib
import gzip
import hashlib
import io
import tarfile
import threading
import urllib.request
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from unskew.data.sources import Form, Source, fetch, status_of
from unskew.data.sources.download import _StaySecure, download
from unskew.errors import DataError

BODY = b"1\t2\n" * 50_000


class Answers(BaseHTTPRequestHandler):
    bodies: dict[str, bytes]

    def do_GET(self) -> None:
        path = self.path.split("?", maxsplit=1)[0]
        if path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/file.dat")
            self.end_headers()
            return
        body = self.bodies.get(path.removeprefix("/cut"))
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        if path != "/unstated.dat":
            self.send_header("Content-Length", str(len(body) + (999 if path.startswith("/cut") else 0)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # a client that gives up is part of the tests
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    Answers.bodies = {"/file.dat": BODY, "/unstated.dat": BODY}
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def url(server) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def tarred(*members: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return buffer.getvalue()


def source(download: str | None, pin: str | None = None) -> Source:
    return Source(
        name="made",
        title="Made",
        licence="none",
        citation="nobody",
        home="https://example.org",
        forms=(Form({"file.dat": pin}),),
        reader=lambda folder: pytest.fail("not read here"),
        extras={"deep/more.dat": None},
        download=download,
        how_to_get="Ask the owner",
    )


def assert_nothing_left(tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []


def test_a_file_arrives_whole_with_progress_and_checksum(url, tmp_path):
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / "file.dat"
    digest = hashlib.sha256(BODY).hexdigest()
    download(f"{url}/file.dat", target, sha256=digest, progress=lambda *now: seen.append(now))
    assert target.read_bytes() == BODY
    assert list(tmp_path.iterdir()) == [target]
    assert seen[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_server_that_does_not_state_the_length_is_fine(url, tmp_path):
    seen: list[int | None] = []
    download(f"{url}/unstated.dat", tmp_path / "x", progress=lambda _, total: seen.append(total))
    assert (tmp_path / "x").read_bytes() == BODY
    assert set(seen) == {None}


def test_a_redirection_is_followed(url, tmp_path):
    download(f"{url}/moved", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == BODY


@pytest.mark.parametrize(
    ("start", "to", "followed"),
    [
        ("https://a.example/x", "https://b.example/y", True),
        ("http://a.example/x", "http://b.example/y", True),
        ("http://a.example/x", "https://b.example/y", True),
        ("https://a.example/x", "http://a.example/x", False),
        ("https://a.example/x", "ftp://a.example/x", False),
    ],
)
def test_a_redirection_does_not_give_up_encryption(start, to, followed):
    asked = urllib.request.Request(start)  # nothing is opened
    if followed:
        again = _StaySecure().redirect_request(asked, None, 302, "Found", {}, to)
        assert again.full_url == to
    else:
        with pytest.raises(DataError, match="which is not https; refused"):
            _StaySecure().redirect_request(asked, None, 302, "Found", {}, to)


def test_a_wrong_checksum_leaves_nothing(url, tmp_path):
    with pytest.raises(DataError, match=r"sha256 is .* expected 000; nothing was kept"):
        download(f"{url}/file.dat", tmp_path / "x", sha256="000")
    assert_nothing_left(tmp_path)


def test_an_old_file_survives_a_failed_download(url, tmp_path):
    (tmp_path / "x").write_text("old")
    with pytest.raises(DataError):
        download(f"{url}/cut/file.dat", tmp_path / "x")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_connection_that_closes_early_leaves_nothing(url, tmp_path):
    with pytest.raises(DataError, match=r"cut short after 200,000 of 200,999 bytes"):
        download(f"{url}/cut/file.dat", tmp_path / "x")
    assert_nothing_left(tmp_path)


def test_a_missing_page_is_said_with_its_code(url, tmp_path):
    with pytest.raises(DataError, match="answers 404"):
        download(f"{url}/nowhere", tmp_path / "x")
    assert_nothing_left(tmp_path)


def test_too_large_a_file_is_refused(url, tmp_path):
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        download(f"{url}/file.dat", tmp_path / "x", largest=1000)
    assert_nothing_left(tmp_path)


def test_an_interruption_leaves_nothing(url, tmp_path):
    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(f"{url}/file.dat", tmp_path / "x", progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(source(f"{url}/file.dat"), tmp_path / "new" / "made", progress=interrupt)
    assert_nothing_left(tmp_path)


def test_nobody_listening_is_one_line(tmp_path):
    with pytest.raises(DataError, match="cannot be downloaded") as caught:
        download("http://127.0.0.1:9/x", tmp_path / "x")
    assert "\n" not in str(caught.value)
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize("address", ["file:///etc/hostname", "ftp://127.0.0.1/x", "nonsense"])
def test_other_kinds_of_address_are_refused(tmp_path, address):
    with pytest.raises(DataError, match="not an http"):
        download(address, tmp_path / "x")


def test_fetch_gets_a_single_file(url, tmp_path):
    place = fetch(source(f"{url}/file.dat?raw=true", hashlib.sha256(BODY).hexdigest()), tmp_path / "a" / "made")
    assert [path.name for path in place.iterdir()] == ["file.dat"]


def test_fetch_keeps_a_gzipped_file_as_it_is_and_checks_its_content(server, url, tmp_path):
    Answers.bodies["/file.dat.gz"] = gzip.compress(BODY)
    place = fetch(source(f"{url}/file.dat.gz", hashlib.sha256(BODY).hexdigest()), tmp_path / "made")
    assert [path.name for path in place.iterdir()] == ["file.dat.gz"]
    assert gzip.decompress((place / "file.dat.gz").read_bytes()) == BODY
    with pytest.raises(DataError, match=r"checksum of file\.dat differs"):
        fetch(source(f"{url}/file.dat.gz", hashlib.sha256(b"other").hexdigest()), tmp_path / "other")


def test_fetch_finds_its_files_in_the_archive_and_keeps_no_others(server, url, tmp_path):
    members = {"Made 2.0/data/file.dat": BODY, "Made 2.0/deep/more.dat": b"m", "Made 2.0/big": b"b"}
    Answers.bodies["/x.zip"] = zipped(members)
    place = fetch(source(f"{url}/x.zip"), tmp_path / "made")
    assert sorted(path.relative_to(place).as_posix() for path in place.rglob("*")) == [
        "deep",
        "deep/more.dat",
        "file.dat",
    ]
    assert (place / "file.dat").read_bytes() == BODY


def test_a_fetch_that_is_stopped_between_two_files_is_not_taken_for_complete(server, url, tmp_path, monkeypatch):
    Answers.bodies["/made.zip"] = zipped({"a/file.dat": BODY, "a/deep/more.dat": b"m"})
    made, moved = source(f"{url}/made.zip"), []

    def move(path: Path, place: Path) -> None:
        if len(moved) == 2:  # the download got its name, and one file was kept
            raise KeyboardInterrupt
        moved.append(place)
        Path(path).rename(place)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", move)
        with pytest.raises(KeyboardInterrupt):
            fetch(made, tmp_path / "made")
    assert (tmp_path / "made" / "deep" / "more.dat").exists()
    assert status_of(made, tmp_path / "made").presence != "present"
    fetch(made, tmp_path / "made")
    assert status_of(made, tmp_path / "made").presence == "present"
    assert (tmp_path / "made" / "deep" / "more.dat").read_bytes() == b"m"


def test_fetch_checks_what_is_in_the_archive(server, url, tmp_path):
    Answers.bodies["/x.zip"] = zipped({"file.dat": b"changed"})
    with pytest.raises(DataError, match=r"checksum of file\.dat differs.*nothing was kept"):
        fetch(source(f"{url}/x.zip", hashlib.sha256(BODY).hexdigest()), tmp_path / "made")
    assert_nothing_left(tmp_path)


def test_fetch_says_what_the_archive_lacks(server, url, tmp_path):
    Answers.bodies["/x.zip"] = zipped({"another.dat": b""})
    with pytest.raises(DataError, match=r"has no file\.dat"):
        fetch(source(f"{url}/x.zip"), tmp_path / "made")
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize("name", ["../file.dat", "/tmp/unskew-evil/file.dat"])
def test_fetch_refuses_an_archive_that_would_leave_the_folder(server, url, tmp_path, name):
    Answers.bodies["/x.zip"] = zipped({"file.dat": BODY, name: b"evil"})
    with pytest.raises(DataError, match="would leave the folder"):
        fetch(source(f"{url}/x.zip"), tmp_path / "made")
    assert_nothing_left(tmp_path)
    assert not Path("/tmp/unskew-evil").exists()


def test_fetch_refuses_a_link_in_a_tar_archive(server, url, tmp_path):
    link = tarfile.TarInfo("file.dat")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
    Answers.bodies["/x.tar.gz"] = tarred(link)
    with pytest.raises(DataError, match="link or device"):
        fetch(source(f"{url}/x.tar.gz"), tmp_path / "made")
    assert_nothing_left(tmp_path)


def test_fetch_gets_a_tar_archive(server, url, tmp_path):
    member = tarfile.TarInfo("made/file.dat")
    member.size = 3
    Answers.bodies["/x.tgz"] = tarred(member)
    assert (fetch(source(f"{url}/x.tgz"), tmp_path / "made") / "file.dat").read_bytes() == bytes(3)


def test_a_failed_fetch_keeps_what_was_there(server, url, tmp_path):
    (tmp_path / "file.dat").write_text("old")
    Answers.bodies["/x.zip"] = b"no archive"
    with pytest.raises(DataError, match="cannot be unpacked"):
        fetch(source(f"{url}/x.zip"), tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_set_without_a_download_says_how_to_get_it(tmp_path):
    with pytest.raises(DataError, match=r"no direct download\. Ask the owner\. .*https://example\.org"):
        fetch(source(None), tmp_path / "made")
    assert_nothing_left(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_one_line(url, tmp_path):
    (tmp_path / "made").write_text("in the way")
    with pytest.raises(DataError, match="cannot be written to"):
        fetch(source(f"{url}/file.dat"), tmp_path / "made")


def test_a_folder_in_the_place_of_a_file_is_one_line(url, tmp_path):
    (tmp_path / "file.dat").mkdir()
    with pytest.raises(DataError, match="in the way"):
        fetch(source(f"{url}/file.dat"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file.dat"]
