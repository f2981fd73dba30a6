"""A proposal of ``sqlanon init`` and its text as a policy file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from sqlanon.errors import PolicyError
from sqlanon.policy.fields import name_parts
from sqlanon.policy.load import default_view
from sqlanon.policy.problems import escape
from sqlanon.spec import FormatSpec, Role, RowsAre

PASSWORD = "SQLANON_PASSWORD"  # noqa: S105 - the variable's name
MANY = 15
"""The number of quasi columns from which the proposal warns of their cost."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """One column: its role and why. ``named``: its name decided."""

    name: str
    role: Role
    reason: str
    named: bool = False
    accept_repeats: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a release of a table could be.

    Attributes:
        columns: one a column of the table, in its order.
        rows: rows of the table.
        k, l, distinct_l: what every class must meet.
        diversity: the comment on l.
        rows_are: ``events`` where an identifier shows that a person has several rows.
        format: how classes are published.
        refused: why ``plan`` refuses the proposal; empty: it does not.
        warned: what is wrong with what was read.
    """

    columns: tuple[Proposed, ...]
    rows: int
    k: int
    l: int | None  # noqa: E741 - the papers' symbol
    distinct_l: int | None
    diversity: str
    rows_are: RowsAre
    format: str = FormatSpec().kind
    refused: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()

    def published_as(self, form: str) -> Self:
        """The same in another format."""
        return replace(self, format=form)

    def because(self, problems: Sequence[str]) -> Self:
        """The same, with the problems that ``plan`` found."""
        return replace(self, refused=tuple(problems))

    def notes(self) -> list[str]:
        """What to know of the whole proposal, one line each."""
        quasi = sum(column.role == "quasi" for column in self.columns)
        notes = [_line(warning) for warning in self.warned]
        if self.refused:
            notes += ["plan refuses this proposal:", *(f"  {_line(problem)}" for problem in self.refused)]
        if quasi >= MANY:
            notes.append(
                f"{quasi} quasi columns: the more there are, the wider every class; give another role to what nobody outside knows."
            )
        return notes

    def policy(self, connection_url: str | None, source: str) -> str:
        """The text of a policy file.

        Args:
            connection_url: goes into the file without its password.
            source: the table, ``table``, ``schema.table`` or ``catalog.schema.table``.

        Raises:
            PolicyError: the table's name cannot be read.
        """
        parts = name_parts(source)
        if parts is None:
            raise PolicyError(
                "source: not the name of a table; table or schema.table, on Spark catalog.schema.table too"
            )
        lines = [
            "# Proposed by sqlanon init from names, types and counts. Check every role before the first run:",
            "# identifier (left out), quasi (generalized), sensitive or insensitive (published as they are).",
            *(f"# {note}" for note in self.notes()),
            "version: 1",
        ]
        if connection_url:
            connection = _without_password(connection_url)
            hint = f"  # set {PASSWORD}, percent-encoded as in the URL" if PASSWORD in connection else ""
            lines.append(f"connection: {_quoted(connection)}{hint}")
        lines += [
            "releases:",
            f"  - name: {_text(parts[-1])}",
            f"    source: {_text(source)}",
            f"    publish: {_text(_view(parts))}",
        ]
        if self.rows_are == "events":
            lines.append(
                "    rows_are: events  # a person may have several rows: k counts rows, and persons are counted beside"
            )
        lines += ["    columns:", *(f"      {_column(column)}" for column in self.columns)]
        hint = "  # with hierarchies, plan measures what method: best would lose"
        lines += ["    privacy:", *self._privacy(), f"    method: tree{hint}", f"    format: {self.format}"]
        return "\n".join(lines) + "\n"

    def _privacy(self) -> list[str]:
        small = f"; the table has only {self.rows}" if self.rows < self.k else ""
        lines = [f"      k: {self.k}  # rows in a class, at least{small}"]
        for key, value in (("l", self.l), ("distinct_l", self.distinct_l)):
            if value is not None:
                return [*lines, f"      {key}: {value}  # {_line(self.diversity)}"]
        return [*lines, f"      # {_line(self.diversity)}"] if self.diversity else lines


def _line(text: str) -> str:
    """Text that stays within its line and its comment."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _column(column: Proposed) -> str:
    extra = ", accept_repeats: true" if column.accept_repeats else ""
    return f"{_key(column.name)}: {{role: {column.role}{extra}}}  # {column.reason}"


def _view(source: tuple[str, ...]) -> str:
    """The view to publish, which is not the source."""
    view = default_view(source[-1])
    same = tuple(map(str.casefold, name_parts(view) or ())) == tuple(map(str.casefold, source))
    return default_view(f"{source[-1]}_anonymized") if same else view


def _without_password(url: str) -> str:
    """The URL as a policy holds it: a password or a token becomes a variable of the environment."""
    variable = "${" + PASSWORD + "}"
    scheme, mark, rest = url.replace("${", "$${").partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    end = authority.rfind("@")
    if end < 0 and re.search(r":(?![0-9]*$)", authority):
        end = rest.rfind("@")  # a password that holds a slash, which a URL should not
    user, _, password = rest[: max(end, 0)].partition(":")
    if password:
        rest = f"{user}:{variable}{rest[end:]}"
    return (
        scheme + mark + re.sub(r"(?i)((?:password|token)=)[^&;\s]*", lambda found: found[1] + variable, rest)
    )


def _key(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    words = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    return name if plain and name.casefold() not in words else _quoted(name)


def _text(value: str) -> str:
    """A value of the file: plain when nothing in it can be misread."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", value):
        return _key(value) if "." not in value else value
    return _quoted(value.replace("${", "$${"))


def _quoted(value: str) -> str:
    return f'"{escape(value)}"'
