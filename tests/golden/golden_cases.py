"""The golden cases as data: a name, and the command line that makes its JSON."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One command line over the files of ``golden_worlds``.

    Parameters
    ----------
    command : str
        As typed after ``unskew``; where its JSON goes is added.
    before : tuple of str
        Commands whose files it reads.
    folder : str
        The folder it writes to, for commands that write no JSON.
    text : bool
        Whether what the terminal shows is kept too.
    page : bool
        Whether two checkouts are also compared by the page it draws.
    masked : tuple of str
        Further keys of the JSON to blank, such as fingerprints of floats that differ in the last bit between machines.
    stored : bool
        False for what differs between machines by more than rounding, or takes long: only checkouts are compared by it.
    codes : tuple of int
        Exit codes that are no failure; a study ends with 1 where a claim does not hold.
    baselines : bool
        Whether an evaluation also judges the baselines; most cases are about the models alone.
    """

    command: str
    before: tuple[str, ...] = ()
    folder: str = ""
    text: bool = False
    page: bool = False
    masked: tuple[str, ...] = ()
    stored: bool = True
    codes: tuple[int, ...] = (0,)
    baselines: bool = False


FILES = "evaluate --train train.csv --test test.csv"
HALF = "evaluate --train train.csv --test test_half.csv"
CHANCES = "evaluate --train train.csv --test test_propensity.csv"
MEANS = "-m recall@5 -m adg@5 -m adg -m auc -m 'auc(literal)' -m atop"
SUMS = "-m dcg -m dcg@5 -m precision@5 -m 'precision(of=list)@5'"
LISTED = (
    "-m ndcg -m ndcg@5 -m 'ndcg(discount=lenskit, ideal=all)@5' -m map -m map@5 -m 'map(of=min)@5' -m mrr -m mrr@5 "
    "-m hit@5 -m 'auc(of=negatives)' -m 'recall(of=min)@5'"
)
SNIPS = "-e snips -e 'snips(per=user)' -e 'snips(per=balanced)' -e 'snips(clip=0.5)'"
PAIRS = "-e 'aoa(per=pair)' -e snips"
BOTH = "--factors one.npz --factors two.npz"
STEPS = "evaluate --train train.csv --validation validation.csv --test test.csv -m recall@5 -m auc -e aoa"
RATED = "evaluate --train rated_train.csv --test rated_test.csv --candidates all"
GUESSES = "--predictions near.csv --predictions high.csv"
EXPOSED = "evaluate --train train.csv --exposed exposed.csv"
UNSEEN = "evaluate --train train.csv --exposed exposed_unseen.csv --population unseen"
RECALLS = "-m recall@5 -m precision@5 -m dcg@5 -m ndcg@5"

POSITIVES = {
    "evaluate-defaults": Case(f"{FILES} {BOTH} --model popular", text=True, page=True),
    "evaluate-baselines": Case(f"{FILES} --factors one.npz", text=True, page=True, baselines=True),
    "evaluate-baselines-exposed": Case(f"{EXPOSED} --factors one.npz --model random", text=True, baselines=True),
    "evaluate-defaults-labelled": Case(f"{FILES} {BOTH} --positive 'rating>=4'", text=True, page=True),
    "evaluate-slice": Case(f"{FILES} --exposed exposed_unseen.csv {BOTH} --positive 'rating>=4'", text=True, page=True),
    "evaluate-exposure": Case(
        f"{FILES} {BOTH} -m recall@5 -m auc {PAIRS} --propensity 'exposure(power=0.5)'", text=True
    ),
    "evaluate-imputed": Case(f"{FILES} {BOTH} -m recall@10 -m auc -e dm -e dr --positive 'rating>=4'", text=True),
    "evaluate-imputed-lists": Case(
        f"{FILES} {BOTH} -m ndcg@10 -m recall@10 -e dm -e blend --positive 'rating>=4'", text=True
    ),
    "evaluate-pairs": Case(f"{FILES} {BOTH} --model popular {PAIRS}", text=True, page=True),
    "evaluate-means": Case(f"{FILES} {BOTH} {MEANS} -e aoa -e 'aoa(per=pair)'", text=True),
    "evaluate-snips": Case(f"{FILES} {BOTH} -m recall@5 -m auc {SNIPS}", text=True),
    "evaluate-snips-column": Case(f"{CHANCES} {BOTH} -m recall@5 -m adg {SNIPS}", text=True),
    "evaluate-sums": Case(f"{FILES} {BOTH} {SUMS} -e aoa"),
    "evaluate-lists-of-metrics": Case(f"{FILES} {BOTH} {LISTED} -e aoa", text=True),
    "evaluate-ips-counts": Case(
        f"{CHANCES} {BOTH} -m recall@5 -m auc -e ips -e 'ips(clip=0.5)' --relevant-counts relevant.csv", text=True
    ),
    "evaluate-ips-sums": Case(f"{CHANCES} {BOTH} -m dcg@5 -m precision@5 -e ips -e aoa"),
    "evaluate-uniform-propensity": Case(f"{FILES} {BOTH} -m recall@5 -e aoa -e snips --propensity uniform"),
    "evaluate-popularity-published": Case(
        f"{FILES} {BOTH} -m recall@5 -e snips --propensity 'popularity(gamma=1.5, smoothing=0)'"
    ),
    "evaluate-assume": Case(f"{FILES} {BOTH} -m adg@5 -e snips --assume gamma=0..1", text=True),
    "evaluate-gamma-auto": Case(
        f"{FILES} {BOTH} -m recall@5 -e 'aoa(per=pair)' -e snips --propensity 'popularity(gamma=auto)'", text=True
    ),
    "evaluate-gamma-from-file": Case(
        f"{FILES} {BOTH} -m recall@5 -e snips --propensity 'popularity(gamma=from(dense.csv))'"
    ),
    "evaluate-bootstrap": Case(
        f"{FILES} {BOTH} -m recall@5 -m ndcg@5 -e aoa --interval 'bootstrap(200)' --seed 3", text=True
    ),
    "evaluate-bootstrap-snips": Case(f"{FILES} {BOTH} -m adg -e snips --interval 'bootstrap(200)' --level 0.9"),
    "evaluate-sampled": Case(
        f"{FILES} {BOTH} -m recall@5 -m auc -m ndcg@5 --candidates 'sampled(10)' --seed 1 --propensity popularity",
        text=True,
    ),
    "evaluate-sampled-unbiased": Case(
        f"{FILES} {BOTH} -m recall@5 -m adg@5 --candidates 'sampled(10, correction=unbiased)' {PAIRS}", text=True
    ),
    "evaluate-sampled-bias-variance": Case(
        f"{FILES} {BOTH} -m recall@5 -m auc --candidates 'sampled(10, correction=bias-variance)' {PAIRS}"
    ),
    "evaluate-all-candidates": Case(f"{FILES} {BOTH} -m recall@5 -m auc --candidates all {PAIRS}"),
    "evaluate-trained-candidates": Case(
        f"evaluate --train train.csv --test test_odd.csv {BOTH} -m recall@5 -m auc --candidates trained {PAIRS}"
    ),
    "evaluate-listed-candidates": Case(
        f"{FILES} {BOTH} -m recall@1 -m auc -e aoa --candidates listed --positive 'rating>=4'"
    ),
    "evaluate-ties-optimistic": Case(f"{FILES} {BOTH} -m recall@5 -m auc --ties optimistic {PAIRS}"),
    "evaluate-ties-pessimistic": Case(f"{FILES} {BOTH} -m recall@5 -m auc --ties pessimistic {PAIRS}"),
    "evaluate-ties-random": Case(f"{FILES} {BOTH} -m recall@5 -m auc --ties random --seed 2 {PAIRS}"),
    "evaluate-ties-ordinal": Case(f"{FILES} {BOTH} -m recall@5 -m auc --ties ordinal {PAIRS}"),
    "evaluate-top-lists": Case(
        f"{FILES} --scores dense.csv --scores lists.csv -m recall@5 -m recall@20 -m auc -m ndcg@5 "
        "--propensity popularity",
        text=True,
    ),
    "evaluate-unlisted-tied": Case(
        f"{FILES} --scores dense.csv --scores lists.csv -m recall@5 -m recall@20 -m ndcg@20 --unlisted tied "
        "--propensity popularity"
    ),
    "evaluate-cold": Case(
        f"evaluate --train train.csv --test test_odd.csv --scores partial.csv {BOTH} -m recall@5 -m auc {PAIRS}",
        text=True,
    ),
    "evaluate-users-common": Case(
        f"{FILES} --scores partial.csv --factors one.npz -m recall@5 -m auc --users common {PAIRS}"
    ),
    "evaluate-users-served": Case(
        f"{FILES} --scores partial.csv --factors one.npz -m recall@5 -m auc --users served {PAIRS}", text=True
    ),
    "evaluate-positive": Case(
        f"{FILES} {BOTH} --model popular -m recall@5 -m map --positive 'rating>=4' --propensity popularity", text=True
    ),
    "evaluate-one-user-block": Case(f"{FILES} {BOTH} -m recall@5 --block-size 7 --level 0.8 {PAIRS}"),
    "evaluate-preset": Case(f"{FILES} {BOTH} --preset yang2018 --propensity popularity --candidates 'sampled(12)'"),
    "evaluate-config": Case("evaluate --config run.toml --metric recall@5", text=True),
    "evaluate-built-in": Case(
        f"{FILES} --model popular --model random --model 'knn=item-knn(neighbours=5)' "
        f"--model 'ease(regularisation=10)' -m recall@5 -m adg {PAIRS}",
        text=True,
    ),
    "evaluate-als-svd": Case(f"{FILES} --model 'als(factors=4)' --model 'svd(rank=4)' -m recall@5 -m auc {PAIRS}"),
    "evaluate-validation": Case(
        f"{STEPS} --model 'bpr(iterations=300, every=100, batch=100, factors=4)' --model popular", text=True
    ),
    "evaluate-validation-pairwise": Case(
        f"{STEPS} --model 'mf-auc(iterations=4000, every=1000, factors=4)' "
        "--model 'mf-adg(iterations=4000, every=1000, factors=4, gamma=10)'"
    ),
    "evaluate-tuned": Case(f"{STEPS} --model 'mf-auc(tune, iterations=2000, every=1000, factors=2)'"),
    "evaluate-against": Case(
        f"{FILES} {BOTH} -m recall@5 -m ndcg@5 -m map -e aoa --against earlier.json",
        before=(f"{HALF} {BOTH} -m recall@5 -m ndcg@5 -m map -e aoa --json earlier.json --quiet",),
        text=True,
        page=True,
    ),
    "evaluate-against-same-test": Case(
        f"{FILES} --factors one.npz -m recall@5 -m auc --against earlier.json {PAIRS}",
        before=(f"{FILES} --factors one=two.npz -m recall@5 -m auc {PAIRS} --json earlier.json --quiet",),
        text=True,
    ),
    "evaluate-one-model": Case(f"{FILES} --scores dense.csv -m recall@10 {PAIRS}", text=True),
    "evaluate-max-dropped": Case(
        f"{FILES} --scores partial.csv -m recall@5 --max-dropped 0.01 {PAIRS}", text=True, codes=(1,)
    ),
}

RATINGS = {
    "ratings-losses": Case(
        f"{RATED} {GUESSES} --scale 1-5/1 -m mae -m mse -m rmse -m accuracy -m 'accuracy(rounded)' "
        "-e aoa -e ips -e snips --propensity column",
        text=True,
        page=True,
    ),
    "ratings-forms": Case(
        f"{RATED} {GUESSES} -m mae -e aoa -e 'aoa(per=user)' -e 'aoa(per=item)' -e snips -e 'snips(per=user)' "
        "-e 'snips(per=item)' -e 'snips(clip=0.25)' --propensity column"
    ),
    "ratings-users-served": Case(f"{RATED} {GUESSES} -m mse -m rmse -e aoa -e snips --users served"),
    "ratings-graded": Case(
        f"{RATED} {GUESSES} -m cg@5 -m 'dcg(gain=value)@5' -m 'dcg(gain=value)' -m 'precision(gain=value)@5' "
        "-e aoa -e ips -e snips --propensity column",
        text=True,
    ),
    "ratings-and-ranks": Case(
        f"{RATED} {GUESSES} -m rmse -m 'dcg(gain=value)@5' -m recall@5 --positive 'rating>=4' --propensity column"
    ),
    "ratings-missing": Case(
        f"{RATED} --predictions short.csv --predictions high.csv -m mae -e snips --propensity column --allow-missing",
        text=True,
    ),
    "ratings-observation": Case(
        f"{RATED} {GUESSES} -m mae -m mse -e ips -e snips --propensity column --interval observation", text=True
    ),
    "ratings-bootstrap": Case(
        f"{RATED} {GUESSES} -m mae -m rmse -e aoa -e snips --propensity column --interval 'bootstrap(200)'"
    ),
    "ratings-naive-bayes": Case(
        f"{RATED} {GUESSES} -m mae -e aoa -e ips -e snips --propensity 'naive-bayes(mcar=mcar.csv)'", text=True
    ),
    "ratings-logistic": Case(
        f"{RATED} {GUESSES} -m mae -e ips -e snips "
        "--propensity 'logistic(users=people.csv, items=things.csv, penalty=1)'",
        text=True,
    ),
    "ratings-logistic-offsets": Case(
        f"{RATED} {GUESSES} -m mae -e snips --propensity 'logistic(items=things.csv, offsets, penalty=1, clip=0.05)'",
        stored=False,
    ),
    "ratings-boosted": Case(
        f"{RATED} {GUESSES} -m mae -e snips --propensity 'boosted(users=people.csv, items=things.csv, trees=20)'"
    ),
    "ratings-combined": Case(
        f"{RATED} {GUESSES} -m mae -e snips --propensity 'combined(mcar=mcar.csv, users=people.csv, penalty=1)'"
    ),
    "ratings-models": Case(
        f"{RATED} --model 'mf-naive(factors=2)' --model 'mf-ips(factors=2, propensity=column)' -m mse "
        "--propensity column -e aoa -e snips",
        masked=("predictions",),
    ),
    "ratings-defaults": Case(
        f"{RATED} --predictions three.csv --predictions near.csv --scale 1-5 -e aoa -e snips", text=True
    ),
}

DRAWN = {
    "exposed-defaults": Case(f"{EXPOSED} {BOTH} --model popular", text=True, page=True),
    "exposed-aggregates": Case(
        f"{UNSEEN} {BOTH} {RECALLS} -e ure -e 'ure(aggregate=pooled)' -e 'ure(aggregate=ipw)' "
        "-e 'ure(aggregate=ipw, counts=plug-in)' -e traditional",
        text=True,
    ),
    "exposed-reduced": Case(
        f"{UNSEEN} {BOTH} {RECALLS} -m adg -e 'ure(aggregate=pooled, reduce=control)' "
        "-e 'ure(aggregate=pooled, reduce=monotone)'",
        text=True,
    ),
    "exposed-literal": Case(f"{UNSEEN} {BOTH} -m recall@5 -e 'ure(literal)' -e 'ure(aggregate=pooled, literal)'"),
    "exposed-population-all": Case(f"{EXPOSED} --population all {BOTH} -m recall@5 -m auc", text=True),
    "exposed-population-auto": Case(f"{EXPOSED} --population auto {BOTH} -m recall@5 -m map"),
    "exposed-ratings": Case(
        f"evaluate --train train.csv --exposed exposed_rated.csv --positive 'rating>=4' {BOTH} -m recall@5"
    ),
    "exposed-catalogue": Case(f"{EXPOSED} --catalogue catalogue.csv {BOTH} -m recall@5", text=True),
    "exposed-lists": Case(f"{UNSEEN} --scores dense.csv --scores lists.csv -m recall@5 -m recall@20 -m ndcg@5"),
    "exposed-uniform": Case(
        f"{UNSEEN} --uniform uniform.csv --positive 'rating>=4' --model 'bias(factors=2, epochs=2)' "
        "--model 'ips(factors=2, epochs=2)' -m recall@5"
    ),
    "exposed-bootstrap": Case(f"{UNSEEN} {BOTH} {RECALLS} --interval 'bootstrap(200)'"),
    "exposed-against": Case(
        f"{UNSEEN} {BOTH} -m recall@5 --against earlier.json",
        before=(f"{EXPOSED} {BOTH} -m recall@5 --json earlier.json --quiet",),
        text=True,
    ),
}

OTHERS = {
    "audit-log": Case("audit log.csv --depth none", text=True, page=True),
    "audit-models": Case(
        "audit train.csv --test test.csv --factors one.npz --scores lists.csv --model popular --k 5 --depth none",
        text=True,
        page=True,
    ),
    "audit-holdout": Case(
        "audit log.csv --model popular --model 'item-knn(neighbours=5)' --holdout 0.25 --k 5 --depth none"
    ),
    "audit-temporal": Case("audit log.csv --model popular --temporal 0.2 --positive 'rating>=3' --k 5 --depth none"),
    "audit-quick": Case(
        "audit log.csv --depth quick --world uniform-pop --runs 4 --evaluations 4", text=True, page=True
    ),
    "calibrate-coarse": Case(
        "calibrate log.csv --coarse --world ibp-pop --world uniform-unif --singles 1 --joint 2 --starts 2",
        text=True,
        page=True,
    ),
    "simulate-ibp": Case("simulate 'ibp(users=60, alpha=12)' drawn --seed 1", folder="drawn", text=True),
    "simulate-lda": Case(
        "simulate 'lda(users=50, items=60, topics=4, likes=15, observe=preferred, graded)' drawn",
        folder="drawn",
        text=True,
    ),
    "simulate-uniform": Case("simulate 'uniform(users=50, items=60, likes=15, dislikes=0.1)' drawn", folder="drawn"),
    "simulate-marketplace": Case("simulate 'marketplace(users=80, items=40)' drawn", folder="drawn"),
    "exposures-recall": Case(
        "exposures --users 1400 --population 2000 --positive-share 0.05 --recall 0.1 --width 0.02 --exposed 20 "
        "--difference 0.02",
        text=True,
    ),
    "exposures-precision": Case(
        "exposures --users 1400 --population 2000 --precision 0.2 --cutoff 10 --likeness 0.2 --level 0.9 --exposed 50",
        text=True,
    ),
    "split-fractions": Case("split log.csv parts --fractions 70/15/15 --seed 1", folder="parts", text=True),
    "split-per-user": Case("split log.csv parts --per-user 70/10/20 --least 7", folder="parts", text=True),
    "split-leave-one-out": Case("split log.csv parts --leave-one-out", folder="parts"),
    "split-temporal": Case("split log.csv parts --temporal 0.25 --format parquet", folder="parts"),
}

CASES = {**POSITIVES, **RATINGS, **DRAWN, **OTHERS}

LISTED_FAMILIES = (
    "metrics estimators propensities models candidates intervals worlds profile-sizes presets studies datasets"
)
LISTS = {f"list-{what}": f"list {what}" for what in LISTED_FAMILIES.split()}

# The tables that take seconds with --fast; the others are left to their own tests. Notes name the folder of the data,
# and lines break where it makes them too long, so what the terminal shows is kept only where there is no data.
QUICK_TABLES = (
    "schnabel2016/table1",
    "schnabel2016/fig1",
    "schnabel2016/fig2",
    "schnabel2016/fig4",
    "schnabel2016/table2",
    "yang2018/table1",
    "yang2018/fig2",
    "yang2018/table3",
    "yang2018/forms",
    "tian2020/dislikes",
    "tian2020/jester",
    "wang2024/fig1",
    "wang2024/fig3",
)
# Not stored: factorisations end elsewhere on another processor; the others take long or are large.
LONGER_TABLES = (
    "schnabel2016/fig3",
    "yang2018/fig3",
    "lim2015/table1",
    "lim2015/table2",
    "lim2015/weighted",
    "tian2020/corrected",
    "tian2020/models",
    "tian2020/feedback",
    "wang2024/table3",
    "wang2024/table4",
    "wang2024/fig5",
    "wang2024/aggregates",
)
WITHOUT_DATA = ("schnabel2016/fig1", "yang2018/table1", "yang2018/forms", "tian2020/dislikes")
STUDIES = {
    f"study-{table.replace('/', '-')}": Case(
        f"reproduce {table} --fast", text=table in WITHOUT_DATA, page=table == "schnabel2016/fig1", codes=(0, 1)
    )
    for table in QUICK_TABLES
}
LONGER_STUDIES = {
    f"study-{table.replace('/', '-')}": Case(f"reproduce {table} --fast", stored=False, codes=(0, 1, 2))
    for table in LONGER_TABLES
}
