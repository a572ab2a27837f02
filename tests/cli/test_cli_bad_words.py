"""Words and options that mean nothing: the nearest known one is named, and no file is read first."""

import pytest

WORDS = {
    "-m": {
        "recal@10": "did you mean 'recall'?",
        "xyzzy": "unknown metric 'xyzzy'; known: ",
        "recall": "needs a cut-off, as in recall@10",
        "auc@10": "has no cut-off",
        "recall@0": "cut-off 0 in 'recall@0' must be at least 1",
        "recall@-3": "cut-off -3 in 'recall@-3' must be at least 1",
        "recall@ten": "a cut-off is written @10",
        "recall@1.5": "a cut-off is written @10",
        "recall(of=min@10": "a closing bracket is missing",
        "recall(of=mim)@10": "did you mean 'of=min'?",
        "ndcg(discount=foo)@10": "choose from standard, lenskit",
        "auc(litteral)": "did you mean 'literal'?",
        "map(of=)@3": "write option=value",
        "@10": "a name must come first",
        "": "a name must come first",
        "os:path": "is not a metric",
        "no_such_module:Thing": "cannot load metric",
    },
    "-e": {
        "snip": "did you mean 'snips'?",
        "xyzzy": "unknown estimator 'xyzzy'; known: aoa, auto, traditional, ure, dm, blend, dr, ips, snips",
        "snips@10": "has no cut-off",
        "snips(clp=0.1)": "did you mean 'clip'?",
        "snips(clip=2)": "clip=2 must be between 0 and 1",
        "snips(clip=nan)": "clip=nan must be between 0 and 1",
        "snips(clip=x)": "expected a number",
        "snips(per=usr)": "did you mean 'user'?",
        "snips(": "a closing bracket is missing",
    },
    "--propensity": {
        "popularty": "did you mean 'popularity'?",
        "xyzzy": "unknown propensity 'xyzzy'; known: ",
        "popularity(gama=1)": "did you mean 'gamma'?",
        "popularity(gamma=x)": "expected a number",
        "popularity(gamma=nan)": "must be a finite number",
        "popularity(smoothing=-1)": "must be 0 or more",
        "popularity(gamma=0": "a closing bracket is missing",
        "uniform(3)": "it has no options",
    },
    "--candidates": {
        "unsen": "did you mean 'unseen'?",
        "xyzzy": "unknown candidate rule 'xyzzy'; known: ",
        "sampled": "needs n",
        "sampled(0)": "at least 1",
        "sampled(x)": "expected a whole number",
    },
    "--ties": {"expect": "did you mean 'expected'?", "xyzzy": "unknown tie policy 'xyzzy'; known: "},
    "--interval": {
        "bootsrap": "did you mean 'bootstrap'?",
        "xyzzy": "unknown interval 'xyzzy'; known: ",
        "bootstrap(1)": "at least 10 draws",
        "bootstrap(x)": "expected a whole number",
        "delta(3)": "it has no options",
    },
    "--model": {
        "alss": "did you mean 'als'?",
        "lists.csv": "--model lists.csv: this ends like a file; give it as --scores, --factors or --predictions",
        "xyzzy": "unknown model 'xyzzy'; known: ",
        "als(factor=3)": "did you mean 'factors'?",
        "als(factors=0)": "at least 1",
        "als(factors=many)": "expected a whole number",
        "popular@10": "has no cut-off",
    },
    "--level": {
        "0": "between 0 and 1, as in 0.95",
        "1": "between 0 and 1",
        "95": "between 0 and 1",
        "-0.5": "between 0 and 1",
        "nan": "between 0 and 1",
        "high": "'--level'",
    },
    "--positive": {
        "rating>": "write one like 'rating>=4'",
        "rating=>4": "write one like 'rating>=4'",
        "rating>=four": "write one like 'rating>=4'",
        "ratng>=4": "name it with --rating-col ratng and write 'rating>=4'",
        "rating>=9": "no positive row; check --positive",
    },
    "--seed": {"-1": "must be 0 or more", "1.5": "'--seed'", "9" * 20: "below 2**63"},
    "--threads": {"0": "at least 1", "two": "'--threads'"},
    "--block-size": {"0": "at least 1"},
    "--unlisted": {"some": "choose zero or tied"},
}


@pytest.mark.parametrize("option, word", [(option, word) for option, words in WORDS.items() for word in words])
def test_a_word_that_means_nothing_is_refused_with_a_hint(world, refuse, option, word):
    refuse(*world.evaluate(option, word), says=(WORDS[option][word],))


def test_words_are_checked_before_files_are_read(unskew):
    outcome = unskew("evaluate", "--train", "nope.csv", "--test", "nope.csv", "-m", "recal@10")
    assert "did you mean 'recall'?" in outcome.err


@pytest.mark.parametrize("metric", ["dcg@10", "precision@10"])
def test_snips_of_a_sum_is_refused_and_adg_named(world, refuse, metric):
    refuse(*world.evaluate("-e", "snips", "-m", metric), says=(f"snips cannot estimate {metric}", "adg@10"))


@pytest.mark.parametrize("metric", ["ndcg@5", "map@5", "mrr@5", "hit@5", "recall(of=min)@5"])
@pytest.mark.parametrize("estimator", ["snips", "snips(per=user)", "ips", "aoa(per=pair)"])
def test_a_list_metric_is_refused_by_all_but_aoa_and_adg_named(world, refuse, metric, estimator):
    refuse(*world.evaluate("-e", estimator, "-m", metric), says=(f"{estimator} cannot estimate {metric}", "adg@5"))


def test_snips_that_was_not_asked_for_leaves_such_metrics_to_aoa(world, unskew):
    outcome = unskew(*world.evaluate("-m", "ndcg@5", "-m", "dcg@5", "--json", "-"))
    assert outcome.code == 0
    assert '"estimator": "aoa"' in outcome.out
    assert '"estimator": "snips"' not in outcome.out


@pytest.mark.parametrize("needed", ["train", "test"])
def test_train_and_test_are_needed(world, refuse, needed):
    other = {"train": "test", "test": "train"}[needed]
    refuse("evaluate", f"--{other}", world / f"{other}.csv", "--model", "popular", says=(f"--{needed} is missing",))


USAGE = {
    "unknown flag": (("evaluate", "--xyzzy"), ("--xyzzy", "unskew evaluate --help")),
    "misspelt flag": (("evaluate", "--trian", "x"), ("--trian", "--train")),
    "flag without its value": (("evaluate", "--train"), ("'--train'", "--help")),
    "value too many": (("evaluate", "train.csv"), ("train.csv", "unskew evaluate --help")),
    "unknown command": (("xyzzy",), ("'xyzzy'", "unskew --help")),
    "misspelt command": (("evaluat",), ("'evaluat'", "'evaluate'")),
    "unknown flag of all": (("--xyzzy",), ("--xyzzy", "unskew --help")),
    "unknown list": (("list", "metric"), ("did you mean 'metrics'?",)),
    "split of nothing": (("split",), ("log", "unskew split --help")),
    "unknown data set": (("datasets", "get", "ml-100"), ("did you mean 'ml-100k'?",)),
    "data set command": (("datasets", "git"), ("'git'", "unskew datasets --help")),
}


@pytest.mark.parametrize("case", USAGE)
def test_bad_usage_is_one_line_with_a_hint(refuse, case):
    arguments, says = USAGE[case]
    refuse(*arguments, says=says, outputs=False)
