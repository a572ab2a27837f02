"""Draw docs/_static/demo.png from the run of ``unskew demo``: run ``python docs/make_picture.py``."""

from pathlib import Path

import altair as alt
import polars as pl
from PIL import Image

from unskew.studies import Demo, run_demo

OUT = Path(__file__).parent / "_static" / "demo.png"
NAMES = {"aoa(per=pair)": "naive average", "snips": "corrected (snips)"}
COLOURS = {"naive average": "#c0504d", "corrected (snips)": "#2e6da4", "truth": "#222222"}
FONT = "DejaVu Sans"


def rows(demo: Demo) -> pl.DataFrame:
    """One row a model and way of averaging, all on the same target: the mean over relevant pairs."""
    found = []
    for model in demo.models:
        true = demo.true_value(model)
        found.append({"model": model, "by": "truth", "value": true, "low": true, "high": true})
        for estimator, name in NAMES.items():
            row = demo.report.estimate(model, demo.metric, estimator)
            found.append({"model": model, "by": name, "value": row.value, "low": row.low, "high": row.high})
    return pl.DataFrame(found)


def chart(demo: Demo) -> alt.LayerChart:
    """Points with 95 % intervals, the truly best model on top."""
    models = sorted(demo.models, key=lambda model: -demo.true_value(model))
    y = alt.Y("model:N", sort=models, title=None, axis=alt.Axis(labelFontSize=15, grid=False, ticks=False))
    offset = alt.YOffset("by:N", sort=list(COLOURS))
    legend = alt.Legend(orient="top", title=None, labelFontSize=14, symbolSize=120)
    colour = alt.Color("by:N", scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())), legend=legend)
    shapes = alt.Scale(domain=list(COLOURS), range=["circle", "circle", "diamond"])
    shape = alt.Shape("by:N", scale=shapes, legend=legend)
    x = alt.X("value:Q", title=f"{demo.metric}, 95 % intervals", axis=alt.Axis(titleFontSize=13, labelFontSize=12))
    base = alt.Chart(rows(demo)).encode(y=y, yOffset=offset, color=colour)
    lines = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q"), x2="high:Q")
    points = base.mark_point(filled=True, size=110, opacity=1).encode(x=x, shape=shape)
    naive, corrected = (demo.crowned(estimator) for estimator in NAMES)
    title = alt.Title(
        f"The naive average crowns “{naive}”; the truth and the corrected estimate crown “{corrected}”",
        subtitle="unskew demo: a simulated marketplace whose truth is known, four models trained on its skewed log",
        anchor="start",
        fontSize=16,
        subtitleFontSize=13,
        subtitleColor="#555555",
    )
    if corrected != demo.best():
        raise SystemExit("the corrected estimate does not crown the best model; the picture's title would be false")
    sized = (lines + points).properties(width=720, height=260, title=title)
    return sized.configure(font=FONT).configure_view(stroke=None)


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    chart(run_demo()).save(OUT, scale_factor=1.5)
    with Image.open(OUT) as picture:  # a few dozen colours are plenty, and a tenth of the bytes
        small = picture.convert("RGB").quantize(64)
    small.save(OUT, optimize=True)
    print(f"{OUT.name}: {OUT.stat().st_size / 1000:.0f} kB")
