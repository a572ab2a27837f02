"""Why sentences of the paper fail, as far as experiments in the tables show it. The others are not known yet."""

from unskew.studies.framework.causes import Cause

_TABLE3, _TABLE4, _FIG1, _FIG5 = (f"unskew reproduce wang2024/{name}" for name in ("table3", "table4", "fig1", "fig5"))
_BY_CHANCE = (
    "the published mean counts users by their chance to have a positive in the sample: its draws are where this puts "
    "them, as the claim about its weights shows. Over positive pairs the pooled form is unbiased for every model and K"
)
_ONE_ORDER = (
    "in this world models have nearly one order at every K: the correlation with full recall@K is 0.98 at K = 1 and "
    "1.00 at K = 120, so there is no other order for the sample to show"
)

CAUSES = (
    Cause("table4", "URE is near full recall for every model", _BY_CHANCE, _TABLE4),
    Cause("table4", "the mean of URE@K over draws orders the ten models", _BY_CHANCE, _TABLE4),
    Cause(
        "table3",
        "recall@5 inside the sample orders the ten models more like",
        "which mean is asked for: over positive pairs the sentence holds in every log, and the paper's numbers are at "
        "the level of positive pairs, not of users",
        _TABLE3,
    ),
    Cause(
        "table3",
        "kuairec, λ = 1 L: inside the sample AutoDebias and NegS",
        "λ, which the paper does not give, decides: it is how weak the selection of the log is. With λ = L none of the "
        "four is better than Bias, with L/4 one is, and with L/16 three are, by up to 0.22",
        _TABLE3,
    ),
    Cause(
        "table3",
        "kuairec: inside the sample AutoDebias and NegS",
        "λ, which the paper does not give, decides: with L/4 one of the four is better than Bias, with L/16 three are",
        _TABLE3,
    ),
    Cause("fig1", "lda: Pearson's correlation", _ONE_ORDER, _FIG1),
    Cause("table4", "lda: the order of the models by full recall@5 is not that", _ONE_ORDER, _TABLE4),
    Cause("fig5", "lda: recall@1 and recall@5 in the sample order models", _ONE_ORDER, f"{_FIG5}, {_FIG1}"),
    Cause(
        "fig5",
        "recall@1 and recall@5 in the sample order models",
        "by theorem 1, recall@1 in samples of 80 is near full recall at K = L / 80, about 24, so it orders models by "
        "recall@30 as ure does. In samples of 20, where that K is about 96, both are clearly below ure",
        _FIG5,
    ),
)
