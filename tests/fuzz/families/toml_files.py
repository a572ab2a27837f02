"""TOML files of options, as ``unskew evaluate`` takes them."""

import random
from pathlib import Path
from typing import Any

from families.family import Family, Recipe
from families.mutations import NUMBERS, TEXTS, change_bytes, change_text, pick
from families.words import printed
from unskew.cli.evaluate import check_options
from unskew.cli.options import EvaluateOptions
from unskew.estimators import Estimator
from unskew.metrics.metric import MetricWord
from unskew.models import Model
from unskew.propensities import PropensityModel

_USUAL: dict[str, tuple[str, ...]] = {
    "train": ('"train.csv"',),
    "test": ('"test.csv"',),
    "model": ('["popular"]', '"p=popular"', '["als(factors=2)", "random"]', '["a=b=c"]', '["x:Y"]'),
    "metric": ('["recall@2"]', '["auc", "ndcg@3"]', '"mrr"'),
    "estimator": ('["aoa"]', '["snips", "aoa"]', '["ips"]'),
    "propensity": ('"popularity(gamma=1)"', '"column"', '"observed(users=x.csv)"', '"popularity(gamma=from(a.npz))"'),
    "candidates": ('"unseen"', '"sampled(10)"', '"all"'),
    "ties": ('"expected"', '"random"'),
    "positive": ('"rating>=4"',),
    "level": ("0.9", "0.99"),
    "interval": ('"delta"', '"bootstrap(100)"'),
    "seed": ("1", "0"),
    "threads": ("1",),
    "block-size": ("10",),
    "until": ('"decided"',),
    "scale": ('"1-5"',),
    "assume": ('"gamma=0..1"',),
    "users": ('"any"', '"served"'),
    "json": ('"out.json"',),
    "html": ('"out.html"',),
    "format": ('"csv"',),
    "columns": ('"user,item,rating"',),
    "sep": ('"tab"',),
    "encoding": ('"latin-1"',),
    "max-dropped": ("0.2",),
    "quiet": ("true",),
    "preset": ('"yang2018"',),
    "factors": ('["mf.npz"]', '"a=mf.npz"'),
    "scores": ('["lists.csv:user=uid"]',),
    "by": ('["users.csv:gender"]', '"popularity"'),
    "checkpoints": ('"kept"',),
    "memory": ('"4GiB"',),
    "partitions": ("4",),
}
_ODD = (
    *("1979-05-27T07:32:00Z", "07:32:00", "[]", "{}", "[[1]]", "{a = 1}", "inf", "nan", "-inf", "0x7fffffffffffffffff"),
    *("true", "false", "[1, 2]", '["", ""]', "'''\n'''", '"\\u001b[31m"', '"\\u0000"', "1_000", "1e400", "[[[[[]]]]]"),
)


class TomlFiles(Family):
    name = "toml"
    share = 12

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rows = "".join(f"{user},{item},{1 + item % 5}\n" for user in range(4) for item in range(5))
        for name in ("train.csv", "test.csv"):
            (folder / name).write_text("user,item,rating\n" + rows)

    def make(self, rng: random.Random) -> Recipe:
        keys = ["train", "test", "model", *(pick(rng, list(_USUAL)) for _ in range(pick(rng, (0, 1, 2, 4))))]
        lines = [f"{key} = {pick(rng, _USUAL[key])}" for key in dict.fromkeys(keys)]
        families: dict[str, Any] = {
            "metric": MetricWord,
            "estimator": Estimator,
            "propensity": PropensityModel,
            "model": Model,
        }
        if rng.random() < 0.3:
            key = pick(rng, list(families))
            word = printed(rng, families[key], wild=rng.random() < 0.5).replace("\\", "\\\\").replace('"', '\\"')
            lines = [line for line in lines if not line.startswith(f"{key} =")] + [f'{key} = "{word}"']
        if rng.random() < 0.4:
            place = rng.randrange(len(lines))
            value = pick(rng, _ODD) if rng.random() < 0.6 else pick(rng, NUMBERS)
            lines[place] = f"{lines[place].partition(' = ')[0]} = {value}"
        text = "\n".join(lines) + "\n"
        if rng.random() < 0.2:
            text = change_text(rng, text, (*TEXTS, *_ODD, "[x]\n", "[[x]]\n", "#", "\r", "a.b = 1\n", "x = 1\n"))
        if rng.random() < 0.01:
            text += pick(
                rng, ("a = " + "[" * 5000, "a." * 3000 + "b = 1", "[" + "a." * 3000 + "b]", "x = " + "9" * 5000)
            )
        raw = text.encode("utf-8", errors="surrogatepass")
        if rng.random() < 0.15:
            raw = change_bytes(rng, raw)
        return {"raw": raw.decode("latin-1")}

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        for name in ("train.csv", "test.csv"):
            (folder / name).symlink_to(self.folder / name)
        path = folder / "run.toml"
        path.write_bytes(recipe["raw"].encode("latin-1"))
        check_options(EvaluateOptions(config=path).with_config())
