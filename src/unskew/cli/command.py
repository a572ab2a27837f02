"""`command_of`: a dataclass of options as a command of typer."""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar, get_type_hints

Options = TypeVar("Options")


def command_of(
    options: type[Options], *, without: Collection[str] = ()
) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Turn a function of an options dataclass into a command: typer parses the fields of the dataclass.

    The fields `without` are not options of this command, and keep their defaults.
    """

    def make(run: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(run)
        def command(**given: Any) -> None:
            run(options(**given))

        signature, hints = inspect.signature(options), get_type_hints(options, include_extras=True)
        shown = [each for each in signature.parameters.values() if each.name not in without]
        command.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        command.__annotations__ = {name: hint for name, hint in hints.items() if name not in without}
        return command

    return make


def first_sentence(command: Callable[..., None]) -> str:
    """The first paragraph of a command's description; the list of commands has no room for more, and cuts nothing."""
    return " ".join(inspect.cleandoc(command.__doc__ or "").split("\n\n", 1)[0].split())
