"""The options of ``sqlanon anonymize`` that are keys of a policy, made of `sqlanon.declared.keys`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from sqlanon.cli.arguments import parse_names, parse_pairs, parse_settings, switch
from sqlanon.declared.key import Form, Key
from sqlanon.declared.keys import ARGUMENTS, PANELS
from sqlanon.declared.options import AnonymizeOptions

OFFERED = tuple(key for key in ARGUMENTS if key.option)
"""The arguments that can be given on the command line."""

_PANEL = {name: panel for panel, names in PANELS.items() for name in names.split()}
_READ: Mapping[Form, Callable[[str, Any], object]] = {
    Form.NAMES: parse_names,
    Form.PAIRS: parse_pairs,
    Form.KEY_PAIRS: lambda option, texts: parse_pairs(option, texts, "key"),
    Form.REQUIREMENT_PAIRS: lambda option, texts: parse_pairs(option, texts, "requirement"),
    Form.SETTINGS: parse_settings,
    Form.SWITCH: switch,
}
"""How texts become values; the other forms are values already."""

_KINDS: Mapping[Form, type] = {Form.FLAG: bool, Form.WHOLE: int, Form.TEXT: str}
"""Python types that typer reads from a text; other forms give a list, or a word of a few."""


def with_policy_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Let a command that takes ``**given`` offer an option for every argument, where the signature has ``given``."""
    parameters = list(inspect.signature(command, eval_str=True).parameters.values())
    place = next(i for i, parameter in enumerate(parameters) if parameter.kind is inspect.Parameter.VAR_KEYWORD)
    first = next(i for i, parameter in enumerate(parameters) if parameter.name == "allow_weaker")
    offered = [_parameter(key) for key in OFFERED]
    keyword = inspect.Parameter.KEYWORD_ONLY
    listed = [*parameters[:first], *offered, *parameters[first:place]]
    signature = inspect.Signature([listed[0], *(parameter.replace(kind=keyword) for parameter in listed[1:])])
    command.__signature__ = signature  # type: ignore[attr-defined]
    return command


def collect_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given, as `sqlanon.policy.release` takes them.

    Raises:
        PolicyError: a text is not in the option's form.
    """
    settings: dict[str, Any] = {"quasi": ()}
    for key in OFFERED:
        parse = _READ.get(key.form)
        value = values[key.name]
        value = parse(key.option, value) if parse else value
        if value is not None and value not in ((), {}):
            settings[key.name] = value
    return settings


def _parameter(key: Key) -> inspect.Parameter:
    default = key.assumed if key.form in (Form.FLAG, Form.SWITCH) else None
    # An unwritten option is left out: a default that is written may not go with other options.
    shown = key.assumed if isinstance(key.assumed, str) else False
    option = typer.Option(
        key.option, metavar=key.metavar, help=key.short, show_default=shown, rich_help_panel=_PANEL[key.name]
    )
    kind: Any = list[str]
    if key.form in _KINDS:
        kind = _KINDS[key.form]
    elif key.form is Form.WORD:
        # Text where extensions may add words: asking for theirs here would be done at every start.
        kind = str if key.words is not None else AnonymizeOptions.__annotations__[key.name]
    annotation = kind if default is not None else kind | None
    return inspect.Parameter(
        key.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, option]
    )
