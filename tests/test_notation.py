"""One notation everywhere: parse and print are inverse, defaults are not printed, errors carry a hint."""

import dataclasses
import typing
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.data.candidates import Candidates
from unskew.errors import ConfigError, did_you_mean
from unskew.estimators import Estimator, Interval, Snips
from unskew.models import Model
from unskew.notation import LARGEST, Named, Word, parse_word
from unskew.propensities import PropensityModel

FAMILIES = [Candidates, Estimator, Interval, Model, PropensityModel]


class Fruit(Named, family="fruit"):
    """A family of this test alone."""


@dataclass(frozen=True)
class Apple(Fruit, word="apple"):
    """Every type an option may have."""

    size: int = 1
    weight: float = 0.5
    ripe: bool = False
    washed: bool = True
    colour: Literal["red", "green"] = "red"
    label: str = "none"
    months_kept: int | None = None


@dataclass(frozen=True)
class Pear(Fruit, word="pear"):
    """A bare argument that must be there."""

    n: int
    positional = ("n",)


@dataclass(frozen=True)
class Cider(Fruit, word="cider"):
    """A bare text argument, which may be another word."""

    of: str = "apple"
    positional = ("of",)


@dataclass(frozen=True)
class Plain(Fruit, word="nut"):
    """The form without a variant."""


@dataclass(frozen=True)
class Roasted(Fruit, word="nut", variant="how=roasted"):
    """Another class under the same word."""

    salt: bool = False


@dataclass(frozen=True)
class Quince(Fruit):
    """Not registered: known by its path only."""

    size: int = 1


@dataclass(frozen=True)
class BigApple(Apple):
    """A subclass of a registered one, itself not registered."""


# A text may hold one kind of quote only: the notation has no escapes.
texts = st.text(st.characters(exclude_characters="'", exclude_categories=["Cs"]), max_size=12)
words = st.sampled_from(
    ["apple", "pear(3)", "nut(how=roasted, salt)", "f(x='a,b')", "g(h(i=1), j)@5", " f(x)", "f(x) "]
)
apples = st.builds(
    Apple,
    size=st.integers(-LARGEST, LARGEST),
    weight=st.floats(allow_nan=False),
    ripe=st.booleans(),
    washed=st.booleans(),
    colour=st.sampled_from(["red", "green"]),
    label=texts | words,
    months_kept=st.none() | st.integers(-LARGEST, LARGEST),
)


@given(apples)
def test_printing_and_parsing_are_inverse(apple: Apple) -> None:
    assert Fruit.from_word(str(apple)) == apple


@given(texts | words)
def test_a_bare_text_survives_printing_and_parsing(text: str) -> None:
    assert Fruit.from_word(str(Cider(text))) == Cider(text)


@given(apples)
def test_blanks_between_the_parts_do_not_matter(apple: Apple) -> None:
    plain = dataclasses.replace(apple, label="none")
    spaced = str(plain).replace("(", " ( ").replace(",", " , ").replace("=", " = ").replace(")", " ) ")
    assert Fruit.from_word(f"  {spaced} ") == plain


def test_options_at_their_default_are_not_printed() -> None:
    assert str(Apple()) == "apple"
    assert str(Apple(size=2)) == "apple(size=2)"


def test_a_true_flag_is_printed_bare_and_a_false_one_is_spelt_out() -> None:
    assert str(Apple(ripe=True)) == "apple(ripe)"
    assert str(Apple(washed=False)) == "apple(washed=false)"
    assert Fruit.from_word("apple(ripe)").ripe
    assert Fruit.from_word("apple(ripe=true)") == Apple(ripe=True)


def test_option_names_use_hyphens_where_python_uses_underscores() -> None:
    assert str(Apple(months_kept=3)) == "apple(months-kept=3)"
    assert Fruit.from_word("apple(months-kept=3)").months_kept == 3


def test_whole_floats_print_without_a_point() -> None:
    assert str(Apple(weight=2.0)) == "apple(weight=2)"
    assert str(Snips(clip=0.01)) == "snips(clip=0.01)"


def test_a_bare_argument_fills_the_positional_field() -> None:
    assert Fruit.from_word("pear(3)") == Pear(3) == Fruit.from_word("pear(n=3)")
    assert str(Pear(3)) == "pear(3)"


def test_a_nested_word_is_kept_whole() -> None:
    assert Fruit.from_word("apple(label=nut(how=roasted, salt))").label == "nut(how=roasted, salt)"
    assert Fruit.from_word("cider(nut(how=roasted, salt))").of == "nut(how=roasted, salt)"


@pytest.mark.parametrize("text", ['apple(label="a, b) = c@2")', "apple(label='a, b) = c@2')"])
def test_quotes_protect_every_sign(text: str) -> None:
    assert Fruit.from_word(text).label == "a, b) = c@2"


def test_variants_share_a_word_and_are_told_apart_by_their_option() -> None:
    assert Fruit.from_word("nut") == Plain()
    assert Fruit.from_word("nut(how=roasted)") == Roasted()
    assert str(Roasted(salt=True)) == "nut(how=roasted, salt)"
    assert Fruit.from_word("nut(salt, how=roasted)") == Roasted(salt=True)


def test_module_and_name_work_wherever_a_name_does() -> None:
    path = f"{__name__}:Quince"
    assert Fruit.from_word(f"{path}(size=4)") == Quince(4)
    assert str(Quince(4)) == f"{path}(size=4)"


def test_a_subclass_does_not_print_as_its_parent() -> None:
    """Else the record of a run would name the wrong class."""
    made = BigApple(size=4)
    assert Fruit.from_word(str(made)) == made
    assert type(Fruit.from_word(str(made))) is BigApple


def test_words_parse_to_their_parts() -> None:
    assert parse_word("f(a, b=1)@10") == Word("f", ("a",), (("b", "1"),), 10)
    assert parse_word("f") == Word("f")
    assert parse_word("f()@3") == Word("f", cutoff=3)
    assert parse_word("a.b-c:Name") == Word("a.b-c:Name")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a name must come first"),
        ("@10", "a name must come first"),
        ("f(", "closing bracket"),
        ("f(a", "closing bracket"),
        ("f(a='b)", "closing bracket"),
        ("f)", "cut-off is written @10"),
        ("f@", "cut-off is written @10"),
        ("f@ten", "cut-off is written @10"),
        ("f@1.5", "cut-off is written @10"),
        ("f@10@20", "cut-off is written @10"),
        ("f(a)(b)", "cut-off is written @10"),
        ("f@0", "at least 1"),
        ("f@-3", "at least 1"),
        ("f(a,,b)", "two commas"),
        ("f(a,)", "two commas"),
        ("f(=1)", "option=value"),
        ("f(a=)", "option=value"),
        ("f(a=1, a=2)", "twice"),
    ],
)
def test_malformed_words_are_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        parse_word(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=20))
def test_any_text_parses_or_is_refused_politely(text: str) -> None:
    try:
        parse_word(text)
    except ConfigError:
        return


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("aple", "unknown fruit 'aple'; did you mean 'apple'"),
        ("zzz", "known: apple, pear, cider, nut"),
        ("apple(sise=2)", "no option 'sise'; did you mean 'size'"),
        ("apple(months_kept=2)", "did you mean 'months-kept'"),
        ("apple(rip)", "has no argument 'rip'; did you mean 'ripe'"),
        ("apple(colour=gren)", "did you mean 'green'"),
        ("apple(size=two)", "size=two in 'apple': expected a whole number"),
        ("apple(size=1.5)", "expected a whole number"),
        ("apple(weight=heavy)", "expected a number"),
        ("apple(ripe=maybe)", "expected true or false"),
        ("apple(months-kept=x)", "expected a whole number"),
        ("pear", "'pear' needs n"),
        ("pear(3, 4)", "has no argument '4'"),
        ("nut(how=raw)", "no option 'how'"),
        ("apple@3", "has no cut-off"),
        ("no.such.module:Name", "cannot load fruit"),
        ("unskew.errors:NoSuch", "cannot load fruit"),
        ("unskew.errors:DataError", "must subclass Fruit"),
        ("unskew.errors:did_you_mean", "must subclass Fruit"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_hint(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Fruit.from_word(text)


def test_a_path_to_another_family_is_refused() -> None:
    with pytest.raises(ConfigError, match="must subclass Estimator"):
        Estimator.from_word("unskew.models.popular:Popular")


def test_the_nearest_word_is_suggested_and_else_all_are_listed() -> None:
    assert did_you_mean("recal", ["recall", "auc"]) == "; did you mean 'recall'?"
    assert did_you_mean("ADG", ["recall", "adg"]) == "; did you mean 'adg'?"
    assert did_you_mean("xyz", ["recall", "auc"]) == "; known: recall, auc"
    assert did_you_mean("xyz", []) == ""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.family)
def test_every_registered_member_survives_printing_and_parsing(family: type[Named]) -> None:
    """Whatever options it has, moved off their defaults one at a time."""
    for member in family.members():
        options = {field.name: _required(field) for field in dataclasses.fields(member)}
        needed = {name: value for name, value in {"n": 7, "mcar": "m.csv"}.items() if options.get(name)}
        base = {"users": "u.csv"} if "users" in options else {"aggregate": "pooled"} if "reduce" in options else {}
        plain = member(**needed, **base)
        for made in [plain, *_moved(plain)]:
            assert family.from_word(str(made)) == made, str(made)


def _required(field: "dataclasses.Field[object]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _moved(plain: Named) -> list[Named]:
    moved = []
    for name, hint in typing.get_type_hints(type(plain)).items():
        if name not in [field.name for field in dataclasses.fields(plain) if field.init]:  # type: ignore[arg-type]
            continue
        old = getattr(plain, name)
        if typing.get_origin(hint) is Literal:
            moved += [dataclasses.replace(plain, **{name: choice}) for choice in typing.get_args(hint)]  # type: ignore[type-var]
        elif isinstance(old, bool):
            moved.append(dataclasses.replace(plain, **{name: not old}))  # type: ignore[type-var]
        elif isinstance(old, int):
            moved.append(dataclasses.replace(plain, **{name: old + 3}))  # type: ignore[type-var]
        elif isinstance(old, float):
            moved.append(dataclasses.replace(plain, **{name: old / 2 + 0.125}))  # type: ignore[type-var]
    return moved


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("recall@1000001", "cut-off=1000001 in 'recall@1000001' is too large; 1,000,000 is the most"),
        ("recall@" + "9" * 5_000, "is too large"),
        ("recall(" + "x" * 20_000 + ")", "a word of 20,008 characters"),
    ],
)
def test_numbers_and_words_beyond_all_use_are_refused(word: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_word(word)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("word", ["als(factors=16385)", "als(factors=99999999999999999999999)"])
def test_options_beyond_all_use_are_refused(word: str) -> None:
    from unskew.models import Model

    with pytest.raises(ConfigError, match=r"is too large; 16,384 is the most"):
        Model.from_word(word)
