"""JSON that the program reads: calibrations, reports to compare with, lines of a calibration, layouts of parts."""

import json
import math
import random
import re
import warnings
from pathlib import Path
from typing import Any

from families.family import Family, Recipe, Silent
from families.mutations import change_bytes, change_json, pick
from families.saved import small_split
from unskew import compare, evaluate
from unskew.calibration import Calibration
from unskew.calibration.attempt import Trial
from unskew.calibration.journal import Record
from unskew.calibration.result import Calibrated, LogFacts
from unskew.data.partitions.layout import LAYOUT, layout_of
from unskew.simulators.likeness import STATISTICS

_NUMBERS = {name: 0.1 * (place + 1) for place, name in enumerate(STATISTICS)}
_WHOLE_TEXTS = (
    "",
    "null",
    "[]",
    "{}",
    "NaN",
    "1e999",
    '"x"',
    "9" * 5000,
    "[" * 100_000,
    '{"a":' * 50_000,
    '{"run": 1, "run": 2}',
    "\xef\xbb\xbf{}",
    "{'a': 1}",
    '{"\\ud800": "\\udfff"}',
    "\x00",
)


class JsonFiles(Family):
    name = "json"
    share = 16

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        trace = dict.fromkeys((*STATISTICS, "joint"), ((0, 0.5), (3, 0.25)))
        worlds = [
            Calibrated(kind, word, _NUMBERS, _NUMBERS, 0.5, _NUMBERS, 30, 1, trace)
            for kind, word in (
                ("uniform", "uniform(items=30, likes=3, users=20)"),
                ("ibp-pop", "ibp(alpha=5, users=20)"),
            )
        ]
        log = LogFacts("log.csv", 100, 20, 30, "0" * 64)
        calibration = Calibration(log, tuple(worlds), _NUMBERS, {"seed": 0}, {"numpy": "2"}, "unskew calibrate log.csv")
        split = small_split()
        with warnings.catch_warnings(action="ignore"):
            self.report = evaluate(
                {"a": "popular"}, split, metrics=["recall@2", "auc"], estimators=["aoa", "snips"], threads=1
            )
        trial = Trial("uniform", "starts", 0, {"likes": 3.0}, _NUMBERS)
        self.texts = {
            "calibration": calibration.to_json(),
            "against": self.report.to_json(),
            "trials": "".join(f"{trial.to_line()}\n" for _ in range(3)),
            "settings": json.dumps({"seed": 0, "worlds": ["uniform"]}),
            "layout": json.dumps({"version": 1, "partitions": 3, "rows": 100}),
        }

    def make(self, rng: random.Random) -> Recipe:
        kind = pick(rng, ("calibration", "calibration", "against", "against", *self.texts))
        text, how = self.texts[kind].encode().decode("latin-1"), rng.random()
        if how < 0.1:
            text = pick(rng, _WHOLE_TEXTS)
        elif how < 0.3:
            text = change_bytes(rng, text.encode("latin-1")).decode("latin-1")
        elif kind == "trials":
            lines = text.splitlines()
            place = rng.randrange(len(lines))
            lines[place] = json.dumps(change_json(rng, json.loads(lines[place])))
            text = "\n".join(lines) + "\n"
        else:
            text = json.dumps(change_json(rng, json.loads(text)))
        return {"kind": kind, "text": text}

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        kind = recipe["kind"]
        names = {"trials": "trials.jsonl", "settings": "settings.json", "layout": LAYOUT}
        path = folder / names.get(kind, "given.json")
        text = recipe["text"] * recipe.get("times", 1) + recipe.get(
            "end", ""
        )  # the corpus need not hold what repeats itself
        path.write_bytes(text.encode("latin-1", errors="replace"))
        if kind == "calibration":
            read = Calibration.read(path)
            str(read)
            read.to_json()
            _check_finite(read.losses)
        elif kind == "against":
            shown = str(compare(self.report, path))
            if re.search(r"\b(nan|inf)\b", shown):
                raise Silent(shown)
        elif kind == "layout":
            parts = layout_of(str(folder))
            if parts is not None and type(parts) is not int:
                raise Silent(f"{parts!r} parts")
        else:
            if kind == "trials":
                (folder / "settings.json").write_text(self.texts["settings"])
            with Record(folder, {"seed": 0, "worlds": ["uniform"]}) as record:
                for trial in record.of("uniform", ("starts",)):
                    _check_finite(trial.divergences)
                    trial.to_line()


def _check_finite(data: Any) -> None:
    """No number that is shown is NaN or infinite."""
    if isinstance(data, float) and not math.isfinite(data):
        raise Silent(f"a number is {data}")
    for each in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        _check_finite(each)
