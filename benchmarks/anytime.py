"""Time until a question is decided, for more and more users: ``python benchmarks/anytime.py [USERS ...]``.

Prints a table, and draws docs/_static/anytime.svg for the page on scale. What is a property of the log and of the
models is computed once and kept with them: the rows sorted by user, counts, lengths of factors. So the first evaluation
of a log takes longer than the next ones, and both are shown.
"""

import sys
import time
from pathlib import Path

import altair as alt
import numpy as np
import vl_convert
from workloads import W2

from unskew import Interactions, Split, evaluate
from unskew.ranking import FactorScorer

DRAWN, REPEATS = 60, 7
OPTIONS = {"metrics": ["adg"], "estimators": ["aoa(per=pair)", "snips"], "propensity": "popularity"}
WIDTH, ON = "width<0.002", "adg:snips"
PLOT = Path(__file__).parents[1] / "docs" / "_static" / "anytime.svg"
FIRST, NEXT = "first evaluation of a log", "every further one"


def world(users, noise=1.0):
    """Held-out items are the best of some random ones, by a model that a second one knows with noise."""
    rng = np.random.default_rng(0)
    tastes, items = (rng.standard_normal((n, W2.d), dtype=np.float32) for n in (users, W2.items))
    train, test = [], []
    for first in range(0, users, 10_000):
        some = np.arange(first, min(first + 10_000, users))
        drawn = rng.integers(0, W2.items, (len(some), DRAWN + W2.trained))
        scores = np.einsum("uf,uif->ui", tastes[some], items[drawn[:, W2.trained :]])
        best = np.argpartition(-scores, W2.held_out, axis=1)[:, : W2.held_out]
        test.append((np.repeat(some, W2.held_out), np.take_along_axis(drawn[:, W2.trained :], best, axis=1).ravel()))
        train.append((np.repeat(some, W2.trained), drawn[:, : W2.trained].ravel()))
    parts = (
        Interactions.from_arrays(*map(np.concatenate, zip(*rows, strict=True)), n_users=users, n_items=W2.items)
        for rows in (train, test)
    )
    noisy = items + noise * rng.standard_normal(items.shape, dtype=np.float32)
    return {"good": FactorScorer(tastes, items), "noisy": FactorScorer(tastes, noisy)}, Split(*parts)


def timed(models, split, **more):
    start = time.perf_counter()
    report = evaluate(models, split, **OPTIONS, **more)
    return time.perf_counter() - start, report


def draw(rows, path):
    """Seconds against users, both on logarithmic axes."""
    axis = {"labelColor": "#808080", "titleColor": "#808080", "gridOpacity": 0.3, "titleFontWeight": "normal"}
    x = alt.X("users:Q", title="users in the log").scale(type="log", domain=[6_000, 1_700_000])
    y = alt.Y("seconds:Q", title=f"seconds until {WIDTH}").scale(type="log", domain=[0.05, 20])
    ticks = sorted({row["users"] for row in rows})
    colour = alt.Color("which:N", title=None).scale(domain=[NEXT, FIRST], range=["#2e6da4", "#a0a0a0"])
    chart = alt.Chart({"values": rows}).encode(
        x=x.axis(values=ticks, format="~s", **axis), y=y.axis(values=[0.1, 1, 10], format="~g", **axis), color=colour
    )
    labels = chart.mark_text(dy=15, fontSize=10).encode(text="ranked:N")
    points = chart.mark_point(filled=True, size=50, opacity=1)
    spec = (chart.mark_line() + points + labels).properties(width=420, height=180).to_dict()
    legend = {"orient": "top", "labelColor": "#808080"}
    spec["config"] = {"background": None, "aria": False, "view": {"stroke": None}, "legend": legend}
    path.write_text(vl_convert.vegalite_to_svg(spec))


def bench_anytime(sizes):
    print(f"{W2.items:,} items, {W2.d} factors, {W2.trained} + {W2.held_out} rows per user; {ON}, two models, {WIDTH}")
    print(f"{'users':>10}  {FIRST:>26}  {NEXT + ', median':>26}  {'best':>8}  {'ranked':>7}")
    timed(*world(1_000), until="decided")  # compiles
    rows = []
    for users in sizes:
        models, split = world(users)
        first, report = timed(models, split, until=WIDTH, on=ON)
        others = [timed(models, split, until=WIDTH, on=ON)[0] for _ in range(REPEATS)]
        again = float(np.median(others))
        print(f"{users:>10,}  {first:>25.2f}s  {again:>25.3f}s  {min(others):>7.3f}s  {report.stop.users:>7,}")
        ranked = f"{report.stop.users:,} ranked"
        rows += [
            {"users": users, "seconds": first, "which": FIRST, "ranked": ""},
            {"users": users, "seconds": again, "which": NEXT, "ranked": ranked},
        ]
    return rows


def bench_decided():
    """Two clearly different models on W2."""
    models, split = world(W2.users)
    whole, _ = timed(models, split)
    decided = float(np.median([timed(models, split, until="decided", on=ON)[0] for _ in range(REPEATS)]))
    first, report = timed(*world(W2.users), until="decided", on=ON)
    print(f"{W2.name}, {W2.users:,} users, clearly different models: all users {whole:.2f} s, until decided ", end="")
    print(
        f"{decided:.3f} s ({decided / whole:.1%}; at most 10 % is wanted), after {report.stop.users:,} users; ", end=""
    )
    print(f"the first evaluation of the log {first:.2f} s ({first / whole:.1%})")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    timings = bench_anytime(given or [10_000, 100_000, 1_000_000])
    if not given:
        draw(timings, PLOT)
        print(f"drawn: {PLOT}")
    bench_decided()
