"""The inputs of the golden corpus: small files, the same bytes on every machine.

Scores and factors are whole numbers wherever a case allows it, so that the last bit of a matrix product cannot matter.
"""

from pathlib import Path

import numpy as np

USERS, ITEMS = 48, 36
RATED_USERS, RATED_ITEMS = 40, 24


def write_worlds(folder: Path) -> None:
    """Write every input file into the folder."""
    _write_positives(folder)
    _write_models(folder)
    _write_exposed(folder)
    _write_ratings(folder)
    _write_log(folder)
    _write_odd_files(folder)


def _table(path: Path, header: str, rows: list[tuple]) -> None:
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _history() -> list[tuple[int, list[int]]]:
    """Each user's items in order of time; low codes are popular."""
    rng = np.random.default_rng(11)
    popular = 1 / np.arange(1, ITEMS + 1) ** 0.8
    sizes = rng.integers(8, 15, USERS)
    return [
        (user, rng.choice(ITEMS, size, replace=False, p=popular / popular.sum()).tolist())
        for user, size in enumerate(sizes)
    ]


def _write_positives(folder: Path) -> None:
    """Train, validation and test of positives; the test has a user, an item and a train row that stand out."""
    rng = np.random.default_rng(12)
    train, validation, test = [], [], []
    for user, items in _history():
        held = 1 + user % 4
        for place, item in enumerate(items):
            row = (f"u{user}", f"i{item}", int(rng.integers(1, 6)), 100 * place + user)
            if place < len(items) - held - 2:
                train.append(row)
            elif place < len(items) - held:
                validation.append(row)
            else:
                test.append(row)
    header = "user,item,rating,timestamp"
    _table(folder / "train.csv", header, train)
    _table(folder / "validation.csv", header, validation)
    _table(folder / "test.csv", header, test)
    chances = (rng.integers(4, 33, len(test)) / 32).tolist()
    with_chance = [(*row, chance) for row, chance in zip(test, chances, strict=True)]
    _table(folder / "test_propensity.csv", f"{header},propensity", with_chance)
    odd = [*test, train[0], ("stranger", "i3", 4, 900), ("u1", "novelty", 5, 901), test[5]]
    _table(folder / "test_odd.csv", header, odd)
    relevant = [(f"u{user}", 6 + user % 5) for user in range(USERS)]
    _table(folder / "relevant.csv", "user,relevant", relevant)
    # a test of half the size, for runs that are set against one another
    _table(folder / "test_half.csv", header, [row for place, row in enumerate(test) if place % 2 == 0])


def _write_models(folder: Path) -> None:
    """Two models as factors, and the scores of others as a dense table and as lists; all numbers are whole."""
    rng = np.random.default_rng(13)
    users, items = [f"u{user}" for user in range(USERS)], [f"i{item}" for item in range(ITEMS)]
    for name in ("one", "two"):
        factors = {
            "user_factors": rng.integers(-3, 4, (USERS, 3)).astype(np.float32),
            "item_factors": rng.integers(-3, 4, (ITEMS, 3)).astype(np.float32),
            "item_bias": (4 - np.arange(ITEMS) // 9).astype(np.float32),
            "user_ids": users,
            "item_ids": items,
        }
        np.savez(folder / f"{name}.npz", **factors)
    scores = rng.integers(0, 40, (USERS, ITEMS)) + np.arange(ITEMS)[::-1]
    everything = [(users[u], items[i], int(scores[u, i])) for u in range(USERS) for i in range(ITEMS)]
    _table(folder / "dense.csv", "user,item,score", everything)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :8]
    lists = [(users[u], items[i], int(scores[u, i])) for u in range(USERS) for i in best[u]]
    _table(folder / "lists.csv", "user,item,score", lists)
    # knows neither the last users nor the last items
    _table(folder / "partial.csv", "user,item,score", [row for row in everything if int(row[0][1:]) < USERS - 8][::2])


def _write_exposed(folder: Path) -> None:
    """Items drawn at random and labelled: among all, among the unseen, with 0 to 3 positives a user."""
    rng = np.random.default_rng(14)
    rows = {"exposed": [], "exposed_unseen": [], "uniform": []}
    for user, items in _history():
        seen = set(items[: len(items) - 1 - user % 4 - 2])
        pool = np.arange(ITEMS)
        unseen = np.array([item for item in pool if item not in seen])
        liking = 0.15 + 0.1 * (user % 4)
        for name, drawn in (("exposed", pool), ("exposed_unseen", unseen), ("uniform", unseen)):
            for item in rng.choice(drawn, 5 + user % 3, replace=False).tolist():
                rows[name].append((f"u{user}", f"i{item}", int(rng.random() < liking * (1.5 - item / ITEMS))))
    for name, part in rows.items():
        _table(folder / f"{name}.csv", "user,item,label", part)
    rated = [(user, item, 5 if label else 2) for user, item, label in rows["exposed_unseen"]]
    _table(folder / "exposed_rated.csv", "user,item,rating", rated)
    _table(folder / "catalogue.csv", "item", [(f"i{item}",) for item in range(ITEMS + 4)])


def _write_ratings(folder: Path) -> None:
    """Ratings that are observed by how high they are, with their chances; predictions of three models."""
    rng = np.random.default_rng(15)
    shape = (RATED_USERS, RATED_ITEMS)
    level = rng.integers(-1, 2, (RATED_USERS, 1)) + np.arange(RATED_ITEMS) // 6 - 1
    ratings = np.clip(3 + level + rng.integers(-1, 2, shape), 1, 5)
    chance = 2.0 ** (ratings - 6)
    for name in ("train", "test"):
        users, items = np.nonzero(rng.random(shape) < chance)
        rows = [(u, i, int(ratings[u, i]), float(chance[u, i])) for u, i in zip(users, items, strict=True)]
        _table(folder / f"rated_{name}.csv", "user,item,rating,propensity", rows)
    pairs = rng.choice(RATED_USERS * RATED_ITEMS, 120, replace=False)
    users, items = np.divmod(np.sort(pairs), RATED_ITEMS)
    drawn = [(u, i, int(ratings[u, i])) for u, i in zip(users, items, strict=True)]
    _table(folder / "mcar.csv", "user,item,rating", drawn)
    guesses = {
        "near": ratings + rng.integers(-1, 2, shape) / 2,
        "high": np.maximum(ratings, 4),
        "three": ratings * 0 + 3,
    }
    for name, guess in guesses.items():
        rows = [(u, i, float(guess[u, i])) for u in range(RATED_USERS) for i in range(RATED_ITEMS)]
        _table(folder / f"{name}.csv", "user,item,prediction", rows)
        if name == "near":
            _table(folder / "short.csv", "user,item,prediction", [row for row in rows if row[0] % 7])
    people = [(user, int(rng.integers(18, 70)), "fm"[int(rng.integers(2))]) for user in range(RATED_USERS)]
    _table(folder / "people.csv", "user,age,sex", people)
    things = [(item, "abc"[item % 3], int(rng.integers(1, 10))) for item in range(RATED_ITEMS)]
    _table(folder / "things.csv", "item,colour,price", things)


def _write_log(folder: Path) -> None:
    """One log to split, audit and calibrate to, with times and observation propensities."""
    rng = np.random.default_rng(16)
    users, items = 60, 40
    popular = 1 / np.arange(1, items + 1) ** 0.9
    rows = []
    for user in range(users):
        for place, item in enumerate(
            rng.choice(items, int(rng.integers(5, 14)), replace=False, p=popular / popular.sum())
        ):
            rows.append((user, int(item), int(rng.integers(1, 6)), 60 * place + user, int(rng.integers(2, 17)) / 16))
    _table(folder / "log.csv", "user,item,rating,timestamp,propensity", rows)


def _write_odd_files(folder: Path) -> None:
    """Files that must be refused, and a run in TOML."""
    (folder / "empty.csv").write_text("user,item\n", encoding="utf-8")
    (folder / "no_item.csv").write_text("user,thing\na,b\n", encoding="utf-8")
    (folder / "bad_rating.csv").write_text("user,item,rating\nu1,i1,4\nu1,i2,good\n", encoding="utf-8")
    (folder / "bad_label.csv").write_text("user,item,label\nu1,i30,1\nu1,i31,2\n", encoding="utf-8")
    (folder / "bad_chance.csv").write_text("user,item,propensity\nu1,i30,0.5\nu1,i31,1.5\n", encoding="utf-8")
    (folder / "nan.csv").write_text("user,item,score\nu1,i30,1\nu1,i31,nan\n", encoding="utf-8")
    (folder / "broken.json").write_text("{", encoding="utf-8")
    (folder / "run.toml").write_text(
        'train = "train.csv"\ntest = "test_propensity.csv"\nfactors = ["one.npz"]\nmodel = ["popular"]\n'
        'metric = ["recall@10", "adg@10"]\nestimator = ["aoa(per=pair)", "snips"]\npropensity = "column"\n',
        encoding="utf-8",
    )
    (folder / "bad.toml").write_text('train = "train.csv"\ntets = "test.csv"\n', encoding="utf-8")
