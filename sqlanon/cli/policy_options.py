"""The options of ``sqlanon anonymize`` that are keys of a policy, made of `sqlanon.declared.arguments`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from sqlanon.cli.arguments import fraction, names, pairs, settings, switch, whole
from sqlanon.declared.arguments import ARGUMENTS, Argument, Form

OFFERED = tuple(argument for argument in ARGUMENTS if argument.option)
"""The arguments that can be given on the command line."""

_READ: Mapping[Form, Callable[[str, Any], object]] = {
    Form.NAMES: names,
    Form.PAIRS: pairs,
    Form.WHOLE_PAIRS: lambda option, texts: whole(option, pairs(option, texts)),
    Form.REQUIREMENT_PAIRS: lambda option, texts: pairs(option, texts, "requirement"),
    Form.SETTINGS: settings,
    Form.SWITCH: switch,
    Form.NUMBER: fraction,
}
"""How texts become values; the other forms are values already."""


def with_policy_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Let a command that takes ``**given`` offer an option for every argument, where its signature has ``given``."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    place = next(i for i, one in enumerate(own) if one.kind is inspect.Parameter.VAR_KEYWORD)
    first = next(i for i, one in enumerate(own) if one.name == "allow_weaker")
    made = [_parameter(argument) for argument in OFFERED]
    keyword = inspect.Parameter.KEYWORD_ONLY
    listed = [*own[:first], *made, *own[first:place]]
    signature = inspect.Signature([listed[0], *(one.replace(kind=keyword) for one in listed[1:])])
    command.__signature__ = signature  # type: ignore[attr-defined]
    return command


def given_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given, as `sqlanon.policy.release` takes them.

    Raises:
        PolicyError: a text is not in its option's form.
    """
    given: dict[str, Any] = {"quasi": ()}
    for argument in OFFERED:
        read = _READ.get(argument.form)
        value = values[argument.name]
        value = read(argument.option, value) if read else value
        if value is not None and value not in ((), {}):
            given[argument.name] = value
    return given


def _parameter(argument: Argument) -> inspect.Parameter:
    default = argument.default if argument.form in (Form.FLAG, Form.SWITCH) else None
    # What is not written is left out: a default that is written may not go with other options.
    shown = f"{argument.default}" if isinstance(argument.default, str) else False
    metavar = argument.metavar if argument.words is None else f"[{'|'.join(argument.own)}]"
    option = typer.Option(argument.option, metavar=metavar, help=argument.help, show_default=shown)
    match argument.form:
        case Form.WORD:
            # Text where extensions may add words: asking for theirs here would be done at every start.
            kind: Any = argument.type if argument.words is None else str
        case Form.FLAG:
            kind, default = bool, False
        case Form.WHOLE:
            kind = int
        case Form.TEXT | Form.NUMBER:
            kind = str
        case _:
            kind = list[str]
    wanted = kind if default is not None else kind | None
    return inspect.Parameter(
        argument.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[wanted, option]
    )
