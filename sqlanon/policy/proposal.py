"""A proposal of ``sqlanon init`` and the text as a policy file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from sqlanon.column_spec import Role
from sqlanon.declared.kinds import name_parts, source_name
from sqlanon.declared.words import escape
from sqlanon.errors import PolicyError
from sqlanon.policy.load import default_view
from sqlanon.spec import FormatSpec, RowsAre

PASSWORD = "SQLANON_PASSWORD"  # noqa: S105 - the variable's name


@dataclass(frozen=True, slots=True)
class ProposedColumn:
    """A column: the role and why.

    Attributes:
        named: the column's name decided.
        settings: other keys of the column in a policy, and their values.
        rank: how much a quasi column is wanted: 0 for columns that most tables of persons are grouped by (age, sex,
            place), 1 for other known names, 2 for the rest.
    """

    name: str
    role: Role
    reason: str
    named: bool = False
    accept_repeats: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    rank: int = 2


@dataclass(frozen=True, slots=True)
class Proposal:
    """A possible release of a table.

    Attributes:
        columns: proposals for the columns of the table, in the same order.
        rows: rows of the table.
        k, l, distinct_l: requirements on every class.
        diversity: the comment on l.
        rows_are: ``events`` where a person has several rows.
        format: how classes are published.
        refused: why ``plan`` refuses the proposal; empty: it does not.
        warned: problems of the tables that were read.
        person: the column that identifies the person of a row, where rows are events.
        null_person: owner of the rows without it.
    """

    columns: tuple[ProposedColumn, ...]
    rows: int
    k: int
    l: int | None  # noqa: E741 - the papers' symbol
    distinct_l: int | None
    diversity: str
    rows_are: RowsAre
    format: str = FormatSpec().kind
    refused: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    null_person: str | None = None

    def with_format(self, form: str) -> Self:
        """The same in another format."""
        return replace(self, format=form)

    def because(self, problems: Sequence[str]) -> Self:
        """The same, with the problems that ``plan`` found."""
        return replace(self, refused=tuple(problems))

    def weaker(self) -> Iterator[Self]:
        """The same, and then with less asked of sensitive columns, until nothing is."""
        yield self
        what = "persons do not reach more" if self.person else "the table does not reach more"
        if self.l is not None:
            yield replace(
                self,
                l=None,
                distinct_l=2,
                diversity=f"l is not possible, as {what}; different sensitive values in a class, at least",
            )
        if self.l is not None or self.distinct_l is not None:
            yield replace(
                self,
                l=None,
                distinct_l=None,
                diversity=f"no l is possible, as {what}; nothing bounds how sure a guess is",
            )

    def with_losses(self, losses: Mapping[str, float]) -> Self:
        """The same, with the loss of each quasi column, from 0 to 1."""
        columns = tuple(
            replace(column, reason=f"{column.reason}; loses {losses[column.name]:.0%}")
            if column.role == "quasi" and column.name in losses
            else column
            for column in self.columns
        )
        return replace(self, columns=columns)

    def without(self, names: Sequence[str], losses: Mapping[str, float], mean: float) -> Self:
        """The same without some quasi columns, as with them all lose too much."""
        columns = tuple(
            ProposedColumn(
                column.name,
                "identifier",
                f"left out: with it quasi columns lose {mean:.0%}, and it {losses[column.name]:.0%} of its own; was: "
                f"quasi, {column.reason}",
                accept_repeats=True,
            )
            if column.name in names
            else column
            for column in self.columns
        )
        return replace(self, columns=columns)

    def notes(self) -> list[str]:
        """Notes on the whole proposal, a line each."""
        notes = [_line(warning) for warning in self.warned]
        if self.refused:
            notes += ["plan refuses this proposal:", *(f"  {_line(problem)}" for problem in self.refused)]
        numbered = any(
            column.role == "identifier" and column.named and not column.accept_repeats for column in self.columns
        )
        if self.rows_are == "persons" and not numbered and not self.refused:
            notes.append(
                "no column says whose row it is, so that each counts as another person's; if one may have several, "
                "name the column: person"
            )
        dropped = sum(column.reason.startswith("left out: with it") for column in self.columns)
        if dropped:
            notes.append(
                "1 column that could be quasi is left out, as with it every class is too wide; to publish it, give it "
                "the role quasi."
                if dropped == 1
                else f"{dropped} columns that could be quasi are left out, as with them every class is too wide; to "
                "publish one, give it the role quasi."
            )
        return notes

    def policy(self, connection_url: str | None, source: str) -> str:
        """The text of a policy file.

        Args:
            connection_url: goes into the file without the password.
            source: the table, ``table``, ``schema.table`` or ``catalog.schema.table``.

        Raises:
            PolicyError: the table's name cannot be read.
        """
        name = source_name(source)
        if name is None:
            raise PolicyError(
                "source: not the name of a table; table or schema.table, on Spark catalog.schema.table too, on DuckDB "
                "delta:PATH, iceberg:CATALOG/namespace.table or parquet:GLOB"
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
            lines.append(f"connection: {_quote(connection)}{hint}")
        lines += [
            "releases:",
            f"  - name: {_text(name)}",
            f"    source: {_text(source)}",
            f"    publish: {_text(_view(name, name_parts(source) or ()))}",
        ]
        if self.person:
            lines.append(
                f"    person: {_key(self.person[0])}  # a person has several rows: every class has rows of k persons, "
                "and a person's are in one class"
            )
        elif self.rows_are == "events":
            lines.append("    rows_are: events  # a person may have several rows")
        if self.null_person:
            lines.append(
                f"    null_person: {self.null_person}  # rows without it are one person's; distinct: each is another's"
            )
        lines += ["    columns:", *(f"      {_column(column)}" for column in self.columns)]
        effort = "    effort: normal  # how long to search for less loss: fast, normal or high; plan states the seconds"
        lines += ["    privacy:", *self._privacy(), effort, f"    format: {self.format}"]
        return "\n".join(lines) + "\n"

    def _privacy(self) -> list[str]:
        small = f"; the table has only {self.rows}" if self.rows < self.k else ""
        lines = [f"      k: {self.k}  # rows in a class, at least{small}"]
        for key, value in (("l", self.l), ("distinct_l", self.distinct_l)):
            if value is not None:
                return [*lines, f"      {key}: {value}  # {_line(self.diversity)}"]
        return [*lines, f"      # {_line(self.diversity)}"] if self.diversity else lines


def _line(text: str) -> str:
    """Text that stays within the line and the comment."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _column(column: ProposedColumn) -> str:
    extra = ", accept_repeats: true" if column.accept_repeats else ""
    extra += "".join(f", {key}: {_text(value)}" for key, value in column.settings)
    return f"{_key(column.name)}: {{role: {column.role}{extra}}}  # {_line(column.reason)}"


def _view(name: str, source: tuple[str, ...]) -> str:
    """The view to publish, which is not the source."""
    view = default_view(name)
    same = tuple(map(str.casefold, name_parts(view) or ())) == tuple(map(str.casefold, source))
    return default_view(f"{name}_anonymized") if same else view


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
    return scheme + mark + re.sub(r"(?i)((?:password|token)=)[^&;\s]*", lambda match: match[1] + variable, rest)


def _key(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    words = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    return name if plain and name.casefold() not in words else _quote(name)


def _text(value: str) -> str:
    """A value of the file: plain when nothing in it can be misread."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", value):
        return _key(value) if "." not in value else value
    return _quote(value.replace("${", "$${"))


def _quote(value: str) -> str:
    return f'"{escape(value)}"'
