"""Data and splits: relevant pairs, a denser part of them, and for each user a tenth and a fifth held out."""

from dataclasses import replace

from unskew.data import Densified, Interactions, Split, Vocabulary, densify, split_per_user
from unskew.data.sources import get_source
from unskew.errors import DataError
from unskew.studies.framework.datasets import DataSet, by_name
from unskew.studies.framework.study import Context, Size
from unskew.studies.lim2015.printed import COUNTS

VALIDATION, TEST = 0.1, 0.2
LEAST = 5
"""Relevant items that a user needs to be held out from; who has fewer only trains."""
FOLDS = Size(4, 2, trials=True)
"""How many times the items of all users are split again."""
RELEVANCE = DataSet("ml-1m", "ml-10m", stands_in=True, source="ml-1m-rel", positive="rating>=1")
"""MovieLens 1M where only the relevance of its ratings is available: the same relevant pairs, in the same order."""
SETS = by_name(
    (
        DataSet("ml-1m", "ml-10m", stands_in=True, positive="rating>=4"),
        DataSet("ml-100k", "ml-10m", stands_in=True, positive="rating>=4"),
        DataSet("amazon-video-games", "amazon-games", stands_in=True),
        DataSet("lastfm-hetrec2011", "msd-challenge", stands_in=True, positive="rating>=3"),
        DataSet("ml-10m", "ml-10m", positive="rating>=4"),
        DataSet("amazon-games", "amazon-games", positive="rating>=4"),
        DataSet("msd-challenge", "msd-challenge", positive="rating>=3"),
    )
)
FAST_SETS = ("ml-100k", "lastfm-hetrec2011")
"""What the small version is computed from."""
NEEDS = ("ml-1m", RELEVANCE.reader, *(name for name in SETS if name != "ml-1m"))


def note_of(data: str) -> str:
    """What to know about a number of the paper next to ours."""
    if not SETS[data].stands_in:
        return (
            "which items and users were kept, the splits, the learning rate and the first parameters are not "
            "published; here the most popular items are kept, and of their users the most active"
        )
    return (
        f"the paper's number is of {SETS[data].paper}, which this set replaces: other data, so the two are not "
        "comparable"
    )


def source_of(context: Context, data: str) -> DataSet | None:
    """The data set as it can be read; None when it is not available. MovieLens 1M has two forms."""
    forms = (SETS[data], RELEVANCE) if data == RELEVANCE.name else (SETS[data],)
    return next((form for form in forms if context.find(form.reader) is not None), None)


def absence_of(context: Context, data: str) -> str:
    """Why a data set has no number; empty when it can be computed."""
    if source_of(context, data) is None:
        return context.absence(data)
    return "left to the full run" if context.fast and data not in FAST_SETS else ""


def kept(data: str) -> dict[str, int]:
    """Options of `densify`: the paper's own sets have its numbers of users and items, the others a least number."""
    if SETS[data].stands_in:
        return {"user_least": LEAST, "item_least": LEAST}
    users, items, _ = COUNTS[data]
    return {"users": users, "items": items}


def dense_log(context: Context, data: str) -> Densified | None:
    """The relevant pairs of a data set, made denser; None when it is not available, or left out."""
    form = source_of(context, data)
    if form is None or absence_of(context, data):
        return None

    def make() -> Densified:
        log = get_source(form.reader).read(context.place(form.reader))
        if form.positive:
            log = log.where(form.positive)
        dense = densify(log, **kept(data))
        # all of its items are candidates in every fold, also those that have lost their last training row
        items = Vocabulary(dense.log.item_vocabulary.ids, declared=True)
        return replace(dense, log=replace(dense.log, item_vocabulary=items))

    return context.once(f"lim2015 log {data}", make)


def split_of(context: Context, data: str, fold: int) -> Split | None:
    """One of the independent splits; None when the data is not available."""
    dense = dense_log(context, data)
    if dense is None:
        return None
    seed = int(context.rng("lim2015", "fold", data, fold).integers(2**31))
    return context.once(f"lim2015 split {data} {fold}", lambda: hold_out(dense.log, rng=seed))


def hold_out(log: Interactions, *, rng: int) -> Split:
    """A tenth of each user's items for validation and a fifth for the test, where the user has at least five."""
    if not len(log) or log.user_counts.max() < LEAST:
        raise DataError(
            f"{log.name}: no user has {LEAST} relevant items, so there is no test row; densify it less, or take another"
        )
    split = split_per_user(log, TEST, validation=VALIDATION, least=LEAST, rng=rng)
    if split.validation is None:
        raise DataError(
            f"{log.name}: no user has enough relevant items for a validation row, and settings are chosen by them; "
            "six are enough"
        )
    return split
