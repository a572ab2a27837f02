"""Words that the tables of the study share."""

from collections.abc import Sequence

from unskew.display.phrases import first_of
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.study import Context
from unskew.studies.tian2020.printed import METRICS as PRINTED
from unskew.studies.tian2020.runs import ARCHIVE, EXPECTED, ORDINAL, STRANGERS, Runs
from unskew.trials import METRICS

NAMES = dict(zip(METRICS, ("precision", "recall", "mrr", "ndcg", "adg", "auc", "dcg"), strict=True))
"""Short names of the metrics; all but auc are of lists of up to 50."""
TITLES = {EXPECTED: "ties expected", ORDINAL: "ties ordinal", ARCHIVE: "as the authors' program"}
PAPER_METRICS = PRINTED
UNIFORM, POPULAR = ("ibp-unif", "lda-unif"), ("ibp-pop", "lda-pop")

METHOD = (
    (
        "A world is drawn anew in every run: what users like, what of it is observed, and which fifth of each user's "
        "rows is held out. Users with a held-out row are judged on lists of up to 50 among the items seen in training. "
        "'observed' is the metric on held-out rows, 'truth' that on all that the users like and did not train on."
    ),
    (
        "'ties expected' averages over all orders of equal scores. 'ties ordinal' puts the lowest item code first; in "
        "an Indian buffet process that is the oldest item, so the oracle, which ties all that a user likes, is helped "
        "by popularity. 'as the authors' program' is that too, and in LDA worlds it ranks, and weighs in the true "
        "NDCG, by how often an item was chosen, while observed items count 1: that NDCG's error mixes two scales."
    ),
)
PANEL = (
    f"Worlds have {1 + STRANGERS:g} times the users of the data. The others are no part of the log; they show what the "
    "population is like that its users come from. The popularity by which items are observed is that among all of them."
)
SMALL = "a small version judges nothing"


def how_often(runs: Sequence[Runs]) -> str:
    """How many runs there were."""
    counts = sorted({len(each) for each in runs})
    return f"Runs of a world: {' or '.join(map(str, counts))}, more where they take little time."


def soften(context: Context, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """In the small version only the evidence of claims that need the full one."""
    if not context.fast:
        return tuple(claims)
    return tuple(Claim(each.claim, None, f"{SMALL}; seen: {each.evidence}") for each in claims)


def some(names: Sequence[str], most: int = 8) -> str:
    """The first of them, and how many more there are."""
    return first_of(names, most, "; ")
