"""One notation for every named piece: ``name(option=value, flag)@k``.

The same word is written in Python, on the command line, in TOML, in JSON and in tables. Parsing and
printing are inverse, and options at their default are not printed.
"""

import dataclasses
import importlib
import re
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, Self, TypeVar, Union

from unskew.errors import ConfigError, did_you_mean

__all__ = ["Named", "Word", "parse_word"]

_NAME = re.compile(r"[A-Za-z_][\w.\-]*(?::[A-Za-z_]\w*)?")
_PLAIN = re.compile(r"[^\s,()=@'\"]+")
_N = TypeVar("_N", bound="Named")
LARGEST = 10**15
"""The largest whole number of an option; see `MOST` for those whose memory or time grow with the number itself."""
MOST = {
    "cut-off": 1_000_000,
    "factors": 16_384,
    "rank": 16_384,
    "neighbours": 1_000_000,
    "epochs": 1_000_000,
    "folds": 1_000,
    "features": 16_384,
    "topics": 16_384,
    "trees": 100_000,
}
_LONGEST = 10_000
"""Characters of a word."""


@dataclass(frozen=True)
class Word:
    """A parsed word: its name, bare arguments, options (all still text) and cut-off."""

    name: str
    arguments: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    cutoff: int | None = None


def parse_word(text: str) -> Word:
    """Parse ``name(argument, option=value)@k``.

    Parameters
    ----------
    text : str
        The word as written; blanks around its parts do not matter.

    Raises
    ------
    ConfigError
        If the text does not have that form; the message shows where.
    """
    if len(text) > _LONGEST:
        raise ConfigError(f"a word of {len(text):,} characters ({text[:40]!r}...); {_LONGEST:,} are enough for any")
    stripped = text.strip()
    match = _NAME.match(stripped)
    if match is None:
        raise ConfigError(f"cannot read {text!r}: a name must come first, as in 'recall@10'")
    rest = stripped[match.end() :].strip()
    arguments: list[str] = []
    options: list[tuple[str, str]] = []
    if rest.startswith("("):
        close = _closing(rest, text)
        for part in _parts(rest[1:close], text):
            key, equals, value = _partition(part)
            if not equals:
                arguments.append(_unquote(part))
            elif not _NAME.fullmatch(key) or not value:
                raise ConfigError(f"cannot read {part!r} in {text!r}: write option=value")
            elif key in dict(options):
                raise ConfigError(f"option {key!r} is given twice in {text!r}")
            else:
                options.append((key, _unquote(value)))
        rest = rest[close + 1 :].strip()
    cutoff = _cutoff(rest, text) if rest else None
    return Word(match.group(), tuple(arguments), tuple(options), cutoff)


def _cutoff(rest: str, text: str) -> int:
    match = re.fullmatch(r"@\s*(-?\d+)", rest)
    if match is None:
        several = "; give several words one by one" if "," in rest else ""
        raise ConfigError(f"cannot read {rest!r} at the end of {text!r}: a cut-off is written @10{several}")
    k = _whole(match.group(1), "cut-off", text)
    if k < 1:
        raise ConfigError(f"cut-off {k} in {text!r} must be at least 1")
    return k


def _whole(text: str, key: str, word: str) -> int:
    """A whole number that is not beyond the largest of its kind; thousands of digits are not even read."""
    most = MOST.get(key, LARGEST)
    if len(text) > 20 or abs(int(text)) > most:
        raise ConfigError(f"{key}={text:.30} in {word!r:.80} is too large; {most:,} is the most")
    return int(text)


def _closing(rest: str, text: str) -> int:
    depth, quote = 0, ""
    for place, character in enumerate(rest):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return place
    raise ConfigError(f"a closing bracket is missing in {text!r}")


def _parts(inside: str, text: str) -> Iterator[str]:
    depth, quote, start = 0, "", 0
    for place, character in enumerate(inside + ","):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == "," and depth == 0:
            part = inside[start:place].strip()
            start = place + 1
            if part:
                yield part
            elif inside.strip():
                raise ConfigError(f"nothing between two commas in {text!r}")


def _partition(part: str) -> tuple[str, str, str]:
    if part[0] in "'\"":
        return part, "", ""
    key, equals, value = part.partition("=")
    if "(" in key:  # the equals sign belongs to a nested word
        return part, "", ""
    return key.strip(), equals, value.strip()


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def _quote(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    try:
        nested = parse_word(value)
    except ConfigError:
        nested = None
    if nested is not None and nested.arguments + nested.options and value == value.strip():
        return value
    return f'"{value}"' if '"' not in value else f"'{value}'"


class Named:
    """A frozen dataclass that can be written as a word.

    A family is a direct subclass declared with ``family="metric"``; a member is declared with ``word="recall"``. Two
    members may share a word if they have different values of ``variant`` (``auc`` and ``auc(of=negatives)``). Fields
    are the options; those named in ``positional`` may be given bare, and a true flag is printed bare.
    """

    family: ClassVar[str] = ""
    word: ClassVar[str] = ""
    variant: ClassVar[tuple[tuple[str, str], ...]] = ()
    positional: ClassVar[tuple[str, ...]] = ()
    bases: ClassVar[str] = ""
    """What a user's class has to subclass, if that is not the family itself."""
    _members: ClassVar[dict[str, list[type[Any]]]] = {}

    def __init_subclass__(cls, *, family: str = "", word: str = "", variant: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if family:
            cls.family = family
            cls._members = {}
        cls.word, cls.variant = word, ()  # a subclass that is not registered must not print as its parent
        if word:
            cls.variant = tuple(
                (key, value) for key, _, value in (part.partition("=") for part in variant.split(",") if part)
            )
            cls._members.setdefault(word, []).append(cls)

    def __str__(self) -> str:
        """The word, without options at their default."""
        frozen = getattr(getattr(self, "__dataclass_params__", None), "frozen", False)
        if not frozen:  # what may change is printed as it is now
            return self._printed()
        known: str | None = vars(self).get("_word")
        if known is None:
            known = self._printed()
            object.__setattr__(self, "_word", known)  # a run prints its words hundreds of times
        return known

    def _printed(self) -> str:
        parts = [f"{key}={value}" for key, value in self.variant]
        options: Any = self  # a user's class may not be a dataclass, and then has no fields
        for field in dataclasses.fields(options) if dataclasses.is_dataclass(options) else ():
            value = getattr(self, field.name)
            if value == _default(field) or not field.init:
                continue
            if field.name in self.positional:
                parts.append(_print(value))
            elif value is True:
                parts.append(_option_name(field.name))
            else:
                parts.append(f"{_option_name(field.name)}={_print(value)}")
        name = self.word or f"{type(self).__module__}:{type(self).__qualname__}"
        return f"{name}({', '.join(parts)})" if parts else name

    @classmethod
    def members(cls) -> list[type[Self]]:
        """All registered members of this family, by word."""
        return [member for word in sorted(cls._members) for member in cls._members[word]]

    @classmethod
    def from_word(cls, text: str | Word) -> Self:
        """Build a member from its word (without cut-off) or from ``module:Name``.

        Raises
        ------
        ConfigError
            For an unknown name or option (with the nearest known one), or a value of the wrong type.
        """
        word = parse_word(text) if isinstance(text, str) else text
        if word.cutoff is not None:
            raise ConfigError(f"{cls.family} {word.name!r} has no cut-off; leave out @{word.cutoff}")
        return cls.build(word)

    @classmethod
    def build(cls, word: Word) -> Self:
        """Build a member from a parsed word, its cut-off ignored."""
        if ":" in word.name:
            loaded: type[Self] = _load(word.name, cls)
            return _construct(loaded, word)
        if word.name not in cls._members:
            raise ConfigError(f"unknown {cls.family} {word.name!r}{did_you_mean(word.name, cls._members)}")
        given = dict(word.options)
        candidates: list[type[Self]] = cls._members[word.name]
        fitting = [m for m in candidates if all(given.get(key) == value for key, value in m.variant)]
        if not fitting:
            forms = ", ".join(f"{key}={value}" for m in candidates for key, value in m.variant)
            raise ConfigError(f"{cls.family} {word.name!r} needs one of: {forms}")
        best = max(fitting, key=lambda member: len(member.variant))
        options = tuple(pair for pair in word.options if pair not in best.variant)
        return _construct(best, dataclasses.replace(word, options=options))


def _construct(cls: type[_N], word: Word) -> _N:
    hints = _hints(cls)  # type: ignore[arg-type]  # classes are hashable
    fields = {_option_name(field.name): field for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    bare = list(cls.positional)
    for argument in word.arguments:
        flag = fields.get(argument)
        if flag is not None and hints[flag.name] is bool:
            values[flag.name] = True
        elif bare:
            name = bare.pop(0)
            values[name] = _coerce(argument, hints[name], name, word.name)
        else:
            raise ConfigError(f"{word.name!r} has no argument {argument!r}{_options_hint(argument, cls, fields)}")
    for key, text in word.options:
        if key not in fields:
            raise ConfigError(f"{word.name!r} has no option {key!r}{_options_hint(key, cls, fields)}")
        values[fields[key].name] = _coerce(text, hints[fields[key].name], key, word.name)
    missing = [key for key, field in fields.items() if field.name not in values and _required(field)]
    if missing:
        raise ConfigError(f"{word.name!r} needs {', '.join(missing)}, as in {_example(cls, word.name, missing)}")
    try:
        return cls(**values)
    except ConfigError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{word.name!r}: {error}") from error


def _example(cls: type[Named], name: str, missing: list[str]) -> str:
    inside = ("..." if key in cls.positional else f"{key}=..." for key in missing)
    return f"{name}({', '.join(inside)})"


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _options_hint(key: str, cls: type[Named], fields: dict[str, Any]) -> str:
    siblings = [f"{k}={v}" for m in cls._members.get(cls.word, []) for k, v in m.variant]
    known = [*fields, *siblings]
    return did_you_mean(key, known) if known else "; it has no options"


def _load(path: str, family: type[Named]) -> type[Any]:
    module_name, _, class_name = path.partition(":")
    try:
        loaded = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"cannot load {family.family} {path!r}: {error}") from error
    if not (isinstance(loaded, type) and issubclass(loaded, family)):
        raise ConfigError(f"{path!r} is not a {family.family}: it must subclass {family.bases or family.__name__}")
    return loaded


def _coerce(text: str, hint: Any, key: str, name: str) -> Any:
    origin = typing.get_origin(hint)
    if origin in {Union, types.UnionType}:
        errors = []
        for option in typing.get_args(hint):
            if option is type(None):
                continue
            try:
                return _coerce(text, option, key, name)
            except ConfigError as error:
                errors.append(error)
        raise errors[-1]
    if origin is Literal:
        choices = [str(choice) for choice in typing.get_args(hint)]
        if text not in choices:
            near = did_you_mean(text, choices)
            hint = near if "did you mean" in near else f"; choose from {', '.join(choices)}"
            raise ConfigError(f"unknown {key}={text} in {name!r}{hint}")
        return text
    readers: dict[Any, tuple[str, Callable[[str], Any]]] = {
        str: ("text", str),
        bool: ("true or false", {"true": True, "false": False}.__getitem__),
        int: ("a whole number", lambda number: _whole(number, key, name)),
        float: ("a number", float),
    }
    kind, read = readers[hint]
    try:
        return read(text)
    except ConfigError:
        raise
    except (ValueError, KeyError):
        raise ConfigError(f"{key}={text} in {name!r}: expected {kind}") from None


def _print(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return _quote(str(value))


def _option_name(field: str) -> str:
    return field.rstrip("_").replace("_", "-")


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
