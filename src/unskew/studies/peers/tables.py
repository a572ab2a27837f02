"""The four tables: simulated worlds, Coat, KuaiRec and Jester, with the logs of the study ``truth``."""

from functools import partial

from unskew.simulators import SELECTION_WORLDS
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.peers.findings import compute, missing_data
from unskew.studies.peers.methods import SHARE
from unskew.studies.truth.coat import NAME as COAT
from unskew.studies.truth.coat import log_of
from unskew.studies.truth.complete import (
    JESTER,
    JESTER_DENSITY,
    JESTER_RULES,
    KUAIREC,
    KUAIREC_DENSITY,
    KUAIREC_RULES,
    RULES,
    describe,
    drawn_cases,
    jester_labels,
    kuairec_labels,
    within,
)
from unskew.studies.truth.findings import Case
from unskew.studies.truth.logs import Log
from unskew.studies.truth.worlds import describe as describe_worlds
from unskew.studies.truth.worlds import world_case

WORLD_SEEDS, COAT_SEEDS = Size(2, 1, trials=True), Size(3, 1, trials=True)
KUAIREC_SEEDS, JESTER_SEEDS = Size(1), Size(2, 1, trials=True)
WORLD_GRID: Size[tuple[int, int]] = Size((400, 360), (150, 130))
KUAIREC_GRID: Size[tuple[int, int]] = Size((500, 800), (150, 250))
JESTER_USERS = Size(1000, 250)
_COAT = (
    "coat: the truth is the random part of the data without the rows of the slice, so it is a sample, and its error is "
    "in all measures. Sums such as dcg@10 and hits@10 are divided by the share of pairs that the sample has; there is "
    "no true ndcg@10. No interval can hold a noisy truth in 95 % of cases."
)


def run_worlds(context: Context) -> Findings:
    """The table of the simulated worlds."""
    users, items = context.size(WORLD_GRID)
    cases = [
        world_case(name, users, items, (SHARE,), (context.seed, seed))
        for name in SELECTION_WORLDS
        for seed in range(context.size(WORLD_SEEDS))
    ]
    return compute(context, cases, describe_worlds(users, items))


def run_coat(context: Context) -> Findings:
    """The table of Coat; logs differ in what is held out and in the slice."""
    source = context.find(COAT)
    if source is None:
        return missing_data(COAT, context)
    split = source.read_split(context.place(COAT))
    log, content = log_of(split.train, split.test), context.fingerprint(COAT)
    seeds = range(context.size(COAT_SEEDS))
    cases = [Case(COAT, partial(_same, log), (content,), (SHARE,), (context.seed, seed)) for seed in seeds]
    return compute(context, cases, _COAT)


def run_kuairec(context: Context) -> Findings:
    """The table of KuaiRec."""
    if context.find(KUAIREC) is None:
        return missing_data(KUAIREC, context)
    relevant = within(kuairec_labels(context), *context.size(KUAIREC_GRID), context.rng("kuairec grid"))
    seeds = context.size(KUAIREC_SEEDS)
    cases = drawn_cases(KUAIREC, relevant, KUAIREC_RULES, KUAIREC_DENSITY, (SHARE,), seeds, context)
    return compute(context, cases, RULES, describe(KUAIREC, relevant, KUAIREC_DENSITY))


def run_jester(context: Context) -> Findings:
    """The table of Jester."""
    if context.find(JESTER) is None:
        return missing_data(JESTER, context)
    labels = jester_labels(context)
    relevant = within(labels, context.size(JESTER_USERS), labels.shape[1], context.rng("jester users"))
    seeds = context.size(JESTER_SEEDS)
    cases = drawn_cases(JESTER, relevant, JESTER_RULES, JESTER_DENSITY, (SHARE,), seeds, context)
    return compute(context, cases, RULES, describe(JESTER, relevant, JESTER_DENSITY))


def _same(log: Log) -> Log:
    return log


TABLES = (
    Table("worlds", "Other packages and ours next to the truth in seven simulated worlds", run_worlds),
    Table("coat", "Other packages and ours next to a random test of Coat", run_coat, needs=(COAT,)),
    Table("kuairec", "Other packages and ours next to the complete labels of KuaiRec", run_kuairec, needs=(KUAIREC,)),
    Table("jester", "Other packages and ours next to the complete ratings of Jester", run_jester, needs=(JESTER,)),
)
