"""Archives that a data set is unpacked from: paths that leave the folder, links, bombs, damage; and its files."""

import gzip
import io
import random
import stat
import tarfile
import zipfile
from pathlib import Path

from families.family import Family, HalfWritten, Recipe, Silent
from families.mutations import NUMBERS, TEXTS, change_bytes, change_text, pick
from unskew.data.sources import SOURCES
from unskew.data.sources.unpack import unpack
from unskew.errors import UnskewError

_NAMES = (
    *("ml-100k/u.data", "u.data", "a/b/c.txt", "x.csv", "d/", "../x", "/etc/x", "a/../../x", "C:\\x", "..\\x", "//x/y"),
    *(
        "a\\..\\..\\x",
        ".",
        "..",
        "",
        "a" * 300,
        "\x1b[31m",
        "a\nb",
        "\u00e9",
        "u.data/x",
        "./u.data",
        "con",
        "a/./b",
        "~/x",
    ),
)
_KINDS = ("file", "file", "file", "file", "link", "hard", "device", "pipe", "folder")
_LARGEST = 1 << 20


class Archives(Family):
    name = "archives"
    share = 10

    def make(self, rng: random.Random) -> Recipe:
        if rng.random() < 0.35:
            return _data_set(rng)
        tame = rng.random() < 0.4
        members = [
            {
                "name": pick(rng, _NAMES[:5] if tame else _NAMES),
                "kind": "file" if tame else pick(rng, _KINDS),
                "to": pick(rng, ("u.data", "../../x", "/etc/passwd", "a")),
                "size": pick(rng, (0, 1, 10, 1000, 3 << 20)) if rng.random() < 0.2 else 10,
            }
            for _ in range(pick(rng, (0, 1, 2, 4)))
        ]
        return {
            "archive": pick(rng, ("x.zip", "x.tar", "x.tar.gz", "x.tgz")),
            "members": members,
            "claim": pick(rng, (None, None, None, 0, 1 << 40)),
            "wanted": pick(rng, (None, ["u.data"], ["x.csv"])),
            "change": rng.randrange(1 << 30) if rng.random() < 0.3 else None,
        }

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        if "source" in recipe:
            for name, raw in recipe["files"].items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                content = raw.encode("latin-1")
                path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
            SOURCES[recipe["source"]].read(folder)
            return
        place = folder / "down"
        place.mkdir()
        archive = place / recipe["archive"]
        content = _zip(recipe) if archive.suffix == ".zip" else _tar(recipe)
        if recipe["change"] is not None:
            content = change_bytes(random.Random(recipe["change"]), content)
        archive.write_bytes(content)
        before = _files(folder)
        wanted = recipe["wanted"]
        try:
            unpack(archive, place / "out", wanted=None if wanted is None else tuple(wanted), largest=_LARGEST)
        except UnskewError:
            if _files(folder) != before:
                raise HalfWritten(f"left over: {sorted(_files(folder) - before)}") from None
            raise
        for path in _files(folder) - before:
            if not path.startswith("down/out"):
                raise Silent(f"{path} is outside the folder")
            if (folder / path).is_symlink() or stat.S_IFMT((folder / path).lstat().st_mode) not in {
                stat.S_IFREG,
                stat.S_IFDIR,
            }:
                raise Silent(f"{path} is not a plain file")


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _zip(recipe: Recipe) -> bytes:
    import warnings

    stream = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for member in recipe["members"]:
            info = zipfile.ZipInfo(member["name"] or "x")
            modes = {"link": stat.S_IFLNK, "device": stat.S_IFCHR, "pipe": stat.S_IFIFO, "folder": stat.S_IFDIR}
            info.external_attr = (modes.get(member["kind"], stat.S_IFREG) | 0o644) << 16
            body = member["to"].encode() if member["kind"] == "link" else b"1\t2\t3\t4\n" * (member["size"] // 8 + 1)
            file.writestr(info, body)
        if recipe["claim"] is not None and file.filelist:
            file.filelist[-1].file_size = min(recipe["claim"], 0xFFFFFFFE)
    return stream.getvalue()


def _tar(recipe: Recipe) -> bytes:
    stream = io.BytesIO()
    packed = recipe["archive"].endswith("gz")
    kinds = {
        "link": tarfile.SYMTYPE,
        "hard": tarfile.LNKTYPE,
        "device": tarfile.CHRTYPE,
        "pipe": tarfile.FIFOTYPE,
        "folder": tarfile.DIRTYPE,
    }
    with tarfile.open(fileobj=stream, mode="w:gz" if packed else "w") as file:
        for member in recipe["members"]:
            info = tarfile.TarInfo(member["name"])
            info.type = kinds.get(member["kind"], tarfile.REGTYPE)
            body = b"1\t2\t3\t4\n" * (member["size"] // 8 + 1) if info.type == tarfile.REGTYPE else b""
            info.linkname, info.size = (
                member["to"] if info.type in {tarfile.SYMTYPE, tarfile.LNKTYPE} else "",
                len(body),
            )
            file.addfile(info, io.BytesIO(body))
    content = stream.getvalue()
    if recipe["claim"] is not None and not packed and len(content) > 512:
        size = f"{min(recipe['claim'], 8**11 - 1):011o}\0".encode()
        header = bytearray(content[:512])
        header[124:136], header[148:156] = size, b" " * 8
        header[148:156] = f"{sum(header):06o}\0 ".encode()
        content = bytes(header) + content[512:]
    return content


_LINES: dict[str, tuple[dict[str, str], ...]] = {
    "ml-100k": ({"u.data": "1\t2\t3\t881250949\n2\t3\t5\t881250950\n1\t3\t4\t881250951\n"},),
    "ml-1m": ({"ratings.dat": "1::2::3::978300760\n2::3::5::978300761\n"},),
    "ml-1m-rel": ({"relevance012.dat": "1::2::1\n2::3::2\n"},),
    "ml-10m": ({"ratings.dat": "1::2::3.5::978300760\n2::3::5::978300761\n"},),
    "coat": ({"train.ascii": "0 1 2 0\n3 0 0 5\n", "test.ascii": "1 0 0 2\n0 1 2 0\n"},),
    "jester": ({"jester-data-1.csv": f"2,1.5,-3{',99' * 98}\n1,99,2{',99' * 98}\n"},),
    "citeulike-a": ({"users.dat": "2 0 1\n1 2\n"},),
    "lastfm-hetrec2011": ({"user_artists.dat": "userID\tartistID\tweight\n2\t51\t13883\n3\t52\t11690\n"},),
    "msd-challenge": ({"train_triplets.txt": "a\tb\t1\na\tc\t2\n"},),
    "steam-200k": ({"steam-200k.csv": '1,Game,purchase,1.0,0\n1,"A, b",play,3.5,0\n2,Game,play,1.5,0\n'},),
    "steam-australian": ({"australian_users_items.json": "{'user_id': 'a', 'items': [{'item_id': '10', 'n': 6}]}\n"},),
    "amazon-games": (
        {"ratings_Video_Games.csv": "A,B,5.0,1341792000\nC,B,4.0,1341792001\n"},
        {"reviews_Video_Games_5.json": '{"reviewerID": "A", "asin": "B", "overall": 4, "unixReviewTime": 1341792}\n'},
    ),
    "tradesy": ({"tradesy.json": "{'uid': '1', 'lists': {'bought': ['2'], 'want': ['3', '4'], 'sold': []}}\n"},),
    "yahoo-r3": (
        {
            "ydata-ymusic-rating-study-v1_0-train.txt": "1\t2\t3\n2\t3\t5\n",
            "ydata-ymusic-rating-study-v1_0-test.txt": "1\t3\t3\n2\t2\t5\n",
        },
    ),
}


def _data_set(rng: random.Random) -> Recipe:
    """The files of a public data set, a few lines of which are changed."""
    name = pick(rng, [each for each in SOURCES if each in _LINES] or list(SOURCES))
    files = {}
    for file, text in pick(rng, _LINES.get(name, ({},))).items():
        changed = (
            change_text(rng, text, (*TEXTS, *NUMBERS, "\t", "\n", "\r", "::", " ", ",")) if rng.random() < 0.7 else text
        )
        raw = changed.encode("utf-8", errors="surrogatepass")
        if rng.random() < 0.3:
            raw = change_bytes(rng, raw)
        files[file + (".gz" if rng.random() < 0.1 else "")] = raw.decode("latin-1")
    return {"source": name, "files": files}
