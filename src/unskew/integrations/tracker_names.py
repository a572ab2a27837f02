"""Names that experiment trackers accept, and back: words such as ``recall@10`` are not among them."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from unskew.errors import ConfigError

SPELLED = {"_": "__", "@": "_at_", "(": "_with_", "=": "_is_", ")": "_end_", ", ": "_and_"}
_LITERAL = r"[A-Za-z0-9.\-]"
_CHARACTERS = re.compile(r", |.", re.DOTALL)
_TOKENS = re.compile(rf"_at_|_with_|_is_|_end_|_and_|_x([0-9a-f]*)_|__|{_LITERAL}|/")
_BACK = {spelled: text for text, spelled in SPELLED.items()}
_FIELD = re.compile(r"[A-Za-z]\w*", re.ASCII)
_PREFIX = re.compile(r"[\w.\- /]*")


class TrackedMetric(NamedTuple):
    """What the name of a tracked number says: model, metric, estimator, and which number of the estimate."""

    model: str
    metric: str
    estimator: str
    number: str


def tracker_name(model: str, metric: str, estimator: str, number: str = "value") -> str:
    """The name of a number in a tracker: ``model/metric/estimator/number``, in letters that all trackers accept.

    Letters, digits, ``.`` and ``-`` stay as they are. ``@`` is written ``_at_``, an opening bracket ``_with_``, ``=``
    is ``_is_``, a comma with a blank ``_and_``, a closing bracket ``_end_``, an underscore is doubled, and any other
    character is its code in hexadecimal, as in ``_x20_`` for a blank. MLflow accepts letters, digits, ``_ - . / :`` and
    blanks; W&B recommends letters, digits and underscores. `number` is a field of an estimate, such as ``std_error``,
    and is not changed. `from_tracker_name` is the inverse.

    Examples
    --------
    >>> tracker_name("als", "recall@10", "snips(per=balanced)")
    'als/recall_at_10/snips_with_per_is_balanced_end_/value'
    """
    if not _FIELD.fullmatch(number):
        raise ConfigError(f"{number!r} is not the name of a number of an estimate, such as value or std_error")
    return "/".join([_path(model), spell(metric), spell(estimator), number])


def from_tracker_name(name: str, prefix: str = "") -> TrackedMetric:
    """Model, metric, estimator and number of a name that `tracker_name` made.

    Parameters
    ----------
    name : str
    prefix : str
        What the name begins with, as given to ``log_mlflow`` or ``log_wandb``.

    Raises
    ------
    ConfigError
        If the name was not made by `tracker_name`.

    Examples
    --------
    >>> from_tracker_name("als/recall_at_10/snips_with_per_is_balanced_end_/value")
    TrackedMetric(model='als', metric='recall@10', estimator='snips(per=balanced)', number='value')
    """
    parts = name.removeprefix(prefix).rsplit("/", 3)
    if not name.startswith(prefix) or len(parts) < 4 or not _FIELD.fullmatch(parts[3]):
        raise ConfigError(f"{name!r} is not the name of an estimate; names are model/metric/estimator/number")
    model, metric, estimator = map(unspell, parts[:3])
    return TrackedMetric(model, metric, estimator, parts[3])


def spell(text: str) -> str:
    """A text in letters, digits, underscores, dots and dashes.

    Examples
    --------
    >>> spell("recall(of=min)@10"), spell("my model")
    ('recall_with_of_is_min_end__at_10', 'my_x20_model')
    """
    if not text:
        return "_x_"
    spelled = "".join(map(_spelled, _CHARACTERS.findall(text)))
    return spelled.replace(".", "_x2e_") if set(spelled) == {"."} else spelled  # a path of dots is another path


def unspell(spelled: str) -> str:
    """The text that `spell` was given.

    Raises
    ------
    ConfigError
        If it is not a text of `spell`.
    """
    texts, place = [], 0
    while place < len(spelled):
        token = _TOKENS.match(spelled, place)
        if token is None:
            raise ConfigError(f"{spelled!r} is not a spelled name: it has {spelled[place]!r} at character {place + 1}")
        code = token.group(1)
        texts.append(_BACK.get(token.group(), token.group()) if code is None else chr(int(code, 16)) if code else "")
        place = token.end()
    return "".join(texts)


def check_prefix(prefix: str) -> str:
    """The prefix; refuse one that trackers do not accept."""
    if not _PREFIX.fullmatch(prefix) or prefix.startswith(("/", ".")) or "//" in prefix or "/." in prefix:
        raise ConfigError(f"prefix={prefix!r}: use letters, digits, dashes and underscores, as in 'offline/'")
    return prefix


def flat(data: Mapping[str, Any], path: str = "") -> dict[str, str]:
    """Settings as texts by names that trackers accept; lists are joined, and nested names have a slash.

    Examples
    --------
    >>> flat({"seed": 0, "metrics": ["auc", "mrr"], "data": {"test": {"rows": 3}}, "positive": None})
    {'seed': '0', 'metrics': 'auc, mrr', 'data/test/rows': '3'}
    """
    texts: dict[str, str] = {}
    for key, value in data.items():
        name = f"{path}{key if _FIELD.fullmatch(str(key)) else spell(str(key))}"
        if isinstance(value, Mapping):
            texts |= flat(value, f"{name}/")
        elif isinstance(value, (list, tuple)):
            texts[name] = ", ".join(map(str, value))
        elif value is not None:
            texts[name] = str(value)
    return texts


def _path(model: str) -> str:
    """The name of a model, whose slashes stay slashes, as in ``als/seed0``, unless the path would be another one."""
    parts = model.split("/")
    return "/".join(map(spell, parts)) if all(parts) else spell(model)


def _spelled(character: str) -> str:
    if character in SPELLED:
        return SPELLED[character]
    return character if re.fullmatch(_LITERAL, character) else f"_x{ord(character):x}_"
