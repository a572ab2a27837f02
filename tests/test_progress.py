from hypothesis import given
from hypothesis import strategies as st

from unskew.progress import Stage, counted, prefixed, say, stage, summed


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[str, int, int]] = []
        self.words: list[tuple[str, str]] = []

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.heard.append((stage, done, total))

    def say(self, stage: str, words: str) -> None:
        self.words.append((stage, words))


def told(progress: Stage | None) -> Stage:
    assert progress is not None
    return progress


def test_without_a_callback_nothing_is_reported() -> None:
    assert stage(None, "als") is say(None, "als") is prefixed(None, "t") is summed(None, "all", 2) is None
    assert list(counted(None, "fitting", "ab")) == ["a", "b"]


def test_a_model_reports_steps_and_words() -> None:
    listener = Listener()
    steps, words = stage(listener, "als", "ranking"), say(listener, "als")
    assert steps is not None
    assert words is not None
    steps(2, 3)
    words("loss 0.5")
    assert listener.heard == [("ranking als", 2, 3)]
    assert listener.words == [("training als", "loss 0.5")]


def test_words_need_somebody_who_listens_to_them() -> None:
    heard: list[str] = []
    assert say(lambda stage, done, total: heard.append(stage), "als") is None


@given(st.integers(0, 5))
def test_pieces_are_reported_before_each_and_after_the_last(n: int) -> None:
    listener = Listener()
    done = [len(listener.heard) for _ in counted(listener, "fitting", range(n))]
    assert done == list(range(1, n + 1))
    assert listener.heard == [("fitting", k, n) for k in range(n + 1)]


def test_a_prefix_is_before_stage_and_words() -> None:
    listener = Listener()
    progress = told(prefixed(listener, "table1"))
    progress("training als", 1, 3)
    progress.say("training als", "loss 0.5")  # type: ignore[attr-defined]
    assert listener.heard == [("table1: training als", 1, 3)]
    assert listener.words == [("table1: training als", "loss 0.5")]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9))))
def test_a_sum_adds_up_what_each_stage_last_reported(calls: list[tuple[str, int]]) -> None:
    listener = Listener()
    progress = told(summed(listener, "all", 27))
    for k, (name, done) in enumerate(calls):
        progress(f"training {name}", done, 9)
        assert listener.heard[-1] == ("all", sum(dict(calls[: k + 1]).values()), 27)


def test_a_sum_says_whose_words_they_are() -> None:
    listener = Listener()
    told(summed(listener, "all", 27)).say("training a", "loss 0.5")  # type: ignore[attr-defined]
    assert listener.words == [("all", "a: loss 0.5")]


def test_words_end_where_nobody_listens_to_them() -> None:
    heard: list[str] = []
    progress = told(prefixed(lambda stage, done, total: heard.append(stage), "t"))
    progress.say("training a", "loss 0.5")  # type: ignore[attr-defined]
    assert heard == []
