"""The two vocabularies of a verdict: a corrected log, or a random sample."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Voice:
    """How a verdict speaks of the naive number, of the one that corrects it, and of the data.

    Parameters
    ----------
    naive, corrected : str
        What the two numbers are, within a sentence.
    uncorrected : str
        What the naive number is where there is no other.
    act : str
        What leads from one to the other.
    with_act, without_act : str
        Where the value of a model that is judged alone comes from.
    undefined, nothing : str
        Headlines when no corrected value is defined, and when none was asked for.
    data : str
    """

    naive: str
    corrected: str
    uncorrected: str
    act: str
    with_act: str
    without_act: str
    undefined: str
    nothing: str
    data: str


OF_A_LOG = Voice(
    naive="the naive average over the same target",
    corrected="the corrected estimate",
    uncorrected="the naive average",
    act="Correcting for the skew",
    with_act="corrected for the skew",
    without_act="without",
    undefined="No corrected estimate is defined, so the models cannot be compared free of the skew of the log.",
    nothing="Only naive averages were computed: nothing here is corrected for the skew of the log.",
    data="log",
)
OF_A_SAMPLE = Voice(
    naive="the sample alone",
    corrected="the estimate over all candidates",
    uncorrected="the sample alone",
    act="Ranking all candidates, and not the exposed ones alone,",
    with_act="over all candidates",
    without_act="inside the sample",
    undefined="No estimate over all candidates is defined, so the models cannot be compared beyond the sample.",
    nothing="Only the exposed items were ranked: nothing here tells how the models do among all candidates.",
    data="sample",
)
