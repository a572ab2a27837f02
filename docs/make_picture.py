"""Draw docs/_static/demo.png from the run of ``unskew demo``: run ``python docs/make_picture.py``."""

from pathlib import Path

import altair as alt
import polars as pl
from PIL import Image

from unskew.studies import Demo, run_demo
from unskew.studies.demo import WAYS

OUT = Path(__file__).parent / "_static" / "demo.png"
NAIVE, POPULARITY, _, TRUE = WAYS
NAMES = {NAIVE: "naive average", POPULARITY: "corrected, popularity", TRUE: "corrected, true propensity"}
COLOURS = dict(zip([*NAMES.values(), "truth"], ["#c0504d", "#7aa6d1", "#2e6da4", "#222222"], strict=True))
FONT = "DejaVu Sans"


def rows(demo: Demo) -> pl.DataFrame:
    """Return one row per model and way of averaging, all on the same target: the mean over relevant pairs."""
    records = []
    for model in demo.models:
        true = demo.true_value(model)
        records.append({"model": model, "by": "truth", "value": true, "low": true, "high": true})
        for way, name in NAMES.items():
            row = demo.estimate(model, way)
            ends = {"low": row.low, "high": row.high, "least": row.assumed_low, "most": row.assumed_high}
            records.append({"model": model, "by": name, "value": row.value, **ends})
    return pl.DataFrame(records, infer_schema_length=None)


def chart(demo: Demo) -> alt.LayerChart:
    """Return points with 95 % intervals and thin lines for assumed ranges, with the truly best model on top."""
    models = sorted(demo.models, key=lambda model: -demo.true_value(model))
    y = alt.Y("model:N", sort=models, title=None, axis=alt.Axis(labelFontSize=15, grid=False, ticks=False))
    offset = alt.YOffset("by:N", sort=list(COLOURS))
    legend = alt.Legend(orient="top", title=None, labelFontSize=14, symbolSize=120, labelLimit=260)
    colour = alt.Color("by:N", scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())), legend=legend)
    shapes = alt.Scale(domain=list(COLOURS), range=["circle", "circle", "circle", "diamond"])
    shape = alt.Shape("by:N", scale=shapes, legend=legend)
    axis = alt.Axis(titleFontSize=13, labelFontSize=12)
    what = f"{demo.metric}; thick: 95 % interval, thin: range over the assumed popularity bias"
    x = alt.X("value:Q", title=what, axis=axis)
    base = alt.Chart(rows(demo)).encode(y=y, yOffset=offset, color=colour)
    lines = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q"), x2="high:Q")
    assumed = base.transform_filter("isValid(datum.least)").mark_rule(strokeWidth=1)
    assumed = assumed.encode(x=alt.X("least:Q"), x2="most:Q")
    points = base.mark_point(filled=True, size=110, opacity=1).encode(x=x, shape=shape)
    naive, corrected = demo.first(NAIVE), demo.first(TRUE)
    title = alt.Title(
        f"The naive average puts “{naive}” first; in truth, and by true propensities, it is “{corrected}”",
        subtitle="unskew demo: a simulated marketplace whose truth is known, four models trained on its skewed log",
        anchor="start",
        fontSize=16,
        subtitleFontSize=13,
        subtitleColor="#555555",
    )
    if corrected != demo.best():
        raise SystemExit("the corrected estimate does not crown the best model; the picture's title would be false")
    sized = (assumed + lines + points).properties(width=720, height=300, title=title)
    return sized.configure(font=FONT).configure_view(stroke=None)


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    chart(run_demo()).save(OUT, scale_factor=1.5)
    with Image.open(OUT) as picture:  # a few dozen colours are plenty, and a tenth of the bytes
        small = picture.convert("RGB").quantize(64)
    small.save(OUT, optimize=True)
    print(f"{OUT.name}: {OUT.stat().st_size / 1000:.0f} kB")
