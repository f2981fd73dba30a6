"""``sqlanon init -i``: a proposal, question by question, each with the reason, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, get_args

import typer

from sqlanon.column_spec import Role
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.policy import Proposal

MEANINGS = {
    "identifier": "says who it is; never published",
    "quasi": "others may know it; published for a whole class",
    "sensitive": "nobody may learn it of a person; published as it is",
    "insensitive": "safe to know of anybody; published as it is",
}
T = TypeVar("T")


def check_terminal(screen: Screen) -> None:
    """Questions can be asked here.

    Raises:
        PolicyError: there is nobody to answer.
    """
    if screen.silent or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise PolicyError(
            "-i asks questions on a terminal, and this is none, or --json or --quiet is given; without -i the proposal "
            "is made without questions"
        )


def ask_all(screen: Screen, proposal: Proposal) -> Proposal:
    """The proposal with the answers; an empty answer takes the proposed role."""
    screen.close()
    say = screen.show
    say("A role for each column; Enter takes the one in brackets:")
    say(*(f"  {role:<12} {meaning}" for role, meaning in MEANINGS.items()), "")
    columns = []
    for number, column in enumerate(proposal.columns, 1):
        name, reason = _safe(column.name), _safe(column.reason)
        say(f"{number} of {len(proposal.columns)}: {name}", f"  proposed: {column.role}, because: {reason}")
        role = _ask("  role", column.role, _role)
        columns.append(
            column
            if role == column.role
            else replace(column, role=role, reason="as answered", accept_repeats=role == "identifier", settings=())
        )
    answered = replace(proposal, columns=tuple(columns), refused=())
    numbers = [column.name for column in columns if column.role == "identifier"]
    person = answered.person if set(answered.person) <= set(numbers) else ()
    if numbers:
        say(
            "",
            "A person may have several rows. Which column says whose row it is? k then counts persons. - where every "
            "row is another person's.",
        )
        column_name = _ask("  the person's column", _safe(person[0]) if person else "-", _one_of(numbers))
        person = (column_name,) if column_name else ()
    answered = replace(
        answered,
        person=person,
        rows_are="events" if person else "persons",
        null_person=answered.null_person if person == proposal.person else None,
        columns=tuple(replace(column, accept_repeats=False) if column.name in person else column for column in columns),
    )
    say(
        "",
        "k: rows of a class, at least. Who knows everything of a person but the sensitive values finds one of k rows, "
        "at best.",
    )
    answered = replace(answered, k=_ask("  k", str(answered.k), _read_integer(1)))
    if any(column.role == "sensitive" for column in answered.columns):
        say(
            "",
            "l: no sensitive value has more than 1 / l of a class; 1 asks for nothing.",
            *([f"  {_safe(answered.diversity)}"] if answered.diversity else []),
        )
        least = _ask("  l", str(answered.l or answered.distinct_l or 1), _read_integer(1))
        if least != (answered.l or answered.distinct_l or 1):
            answered = replace(answered, l=least if least > 1 else None, distinct_l=None, diversity="as answered")
    else:
        answered = replace(answered, l=None, distinct_l=None, diversity="")
    say("")
    return answered


def _ask(question: str, proposed: str, read: Callable[[str], T]) -> T:
    """An answer that can be read; asked again until it can."""
    while True:
        text = str(typer.prompt(question, default=proposed)).strip()
        try:
            return read(text)
        except ValueError as error:
            typer.echo(f"  {error}")


def _role(text: str) -> Role:
    """A role, or the beginning of a role's name."""
    fits: list[Role] = [role for role in get_args(Role) if text and role.startswith(text.lower())]
    if len(fits) != 1:
        raise ValueError(f"one of {', '.join(get_args(Role))}, or the letters that it begins with: id, q, s, in")
    return fits[0]


def _one_of(names: list[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text == "-":
            return ""
        fits = [name for name in names if text in (name, _safe(name))]
        if len(fits) != 1:
            raise ValueError("an identifier by its name, or -")
        return fits[0]

    return read


def _read_integer(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) < least:
            raise ValueError(f"a whole number, {least} or more")
        return int(text)

    return read


def _safe(text: str) -> str:
    from sqlanon.cli.show.text import clean

    return clean(text)
