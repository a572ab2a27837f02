"""Words for what stands beside what in a verdict: a skewed log and its correction, or a sample and all candidates."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Voice:
    """How a verdict speaks of the naive number, of the one that corrects it, and of the data.

    Parameters
    ----------
    naive, corrected : str
        What the two numbers are, within a sentence.
    only_naive, only_corrected : str
        Begin a sentence when there is but one of them.
    act : str
        What leads from one to the other.
    both : str
        Where a model is first when it is so by both.
    with_act, without_act : str
        Where the value of a model that stands alone comes from.
    undefined, nothing : str
        Headlines when no corrected value is defined, and when none was asked for.
    data : str
    """

    naive: str
    corrected: str
    only_naive: str
    only_corrected: str
    act: str
    both: str
    with_act: str
    without_act: str
    undefined: str
    nothing: str
    data: str


OF_A_LOG = Voice(
    naive="the naive average",
    corrected="the corrected estimate",
    only_naive="Only the naive average was computed",
    only_corrected="Only the corrected estimate is defined",
    act="Correcting for the skew",
    both="naively and corrected",
    with_act="corrected for the skew",
    without_act="without",
    undefined="No corrected estimate is defined, so the models cannot be compared free of the skew of the log.",
    nothing="Only naive averages were computed: nothing here is corrected for the skew of the log.",
    data="log",
)
OF_A_SAMPLE = Voice(
    naive="the sample alone",
    corrected="the estimate over all candidates",
    only_naive="Only the exposed items were ranked",
    only_corrected="Only the estimate over all candidates is defined",
    act="Ranking all candidates, and not the exposed ones alone,",
    both="inside the sample and over all candidates",
    with_act="over all candidates",
    without_act="inside the sample",
    undefined="No estimate over all candidates is defined, so the models cannot be compared beyond the sample.",
    nothing="Only the exposed items were ranked: nothing here tells how the models do among all candidates.",
    data="sample",
)
