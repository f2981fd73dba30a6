"""Options that several commands share, and how they find their policy and their database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlanon.cli.arguments import parse_pairs
from sqlanon.cli.confirmation_options import collect_confirmations
from sqlanon.declared.keys import PUBLISHED
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.database import Database
    from sqlanon.spec import PolicySpec, ReleaseSpec

POLICY = Path("anon.yml")
CSV = "CSV files"
"""The panel of their options."""


def option(option: str, metavar: str, help: str, *, short: str = "", panel: str | None = None) -> Any:  # noqa: A002, ANN401 - as typer's own
    """An option with a value and a default that the help does not show."""
    names = [option, short] if short else [option]
    return typer.Option(*names, metavar=metavar, show_default=False, help=help, rich_help_panel=panel)


def flag(option: str, help: str, *, short: str = "", panel: str | None = None) -> Any:  # noqa: A002, ANN401 - as typer's own
    """An option without a value."""
    return typer.Option(*([option, short] if short else [option]), help=help, rich_help_panel=panel)


PolicyFile = Annotated[Path | None, option("--policy", "FILE", "Policy file (default: ./anon.yml).", short="-p")]
Db = Annotated[
    str | None,
    option("--db", "URL", "duckdb:///path, postgresql://... or sc://host:port; overrides the policy's connection."),
]
Select = Annotated[list[str] | None, option("--select", "NAME", "Only this release; may be repeated.")]
Null = Annotated[
    list[str] | None, option("--null", "TEXT", "CSV: a text that means a missing value; may be repeated.", panel=CSV)
]
EscapeFormulas = Annotated[
    bool, flag("--escape-formulas", "CSV: write ' before what a spreadsheet takes for a formula.", panel=CSV)
]
Delimiter = Annotated[str | None, option("--delimiter", "CHAR", "CSV: between two fields.", panel=CSV)]
Encoding = Annotated[
    str | None,
    option("--encoding", "NAME", "CSV: utf-8 (default), windows-1252, latin-1, utf-16 or another.", panel=CSV),
]
Types = Annotated[list[str] | None, option("--types", "COL=TYPE", "CSV: a column's type; may be repeated.", panel=CSV)]
Decimal = Annotated[str | None, option("--decimal", "CHAR", "CSV: the mark before decimals, such as ','.", panel=CSV)]
Ignore = Annotated[
    list[str] | None,
    option(
        "--ignore",
        "TEXT",
        "CSV: what numbers are written with: '$', '%', a mark between thousands; may be repeated.",
        panel=CSV,
    ),
]
DateFormat = Annotated[
    str | None, option("--date-format", "FORMAT", "CSV: how dates are written, such as %d/%m/%Y.", panel=CSV)
]
AllowWeaker = Annotated[
    bool, flag("--allow-weaker", "Confirm that the policy promises less than what is published.", panel=PUBLISHED)
]
KeepScratch = Annotated[
    bool,
    flag(
        "--keep-scratch",
        "Keep every intermediate table, with source values, in the private schema until the next run or clean, "
        "and list them.",
    ),
]
Due = Annotated[bool, flag("--due", "Leave releases alone that a run looked at less than `every` ago.")]
Full = Annotated[bool, flag("--full", "Make new versions even where nothing changed.")]
NewLineage = Annotated[
    bool,
    flag(
        "--new-lineage",
        "With refresh: {mode: frozen}: publish all rows anew, and report what that reveals beside the versions before.",
    ),
]
NewClasses = Annotated[
    bool,
    flag(
        "--new-classes",
        "Where the policy names no method: take that of a new release, not that of the published versions.",
    ),
]
Spend = Annotated[
    bool, flag("--spend", "Statistics with a budget: pay for a new version now, whatever the clock says.")
]
RecordFile = Annotated[Path | None, option("--record", "FILE", "Write what was done to a JSON file.")]


def load(policy: Path | None, db: str | None = None) -> PolicySpec:
    """Read the policy file, or ``anon.yml`` here; with ``--db`` nothing of the file's connection is read."""
    from sqlanon.policy import load as read

    path = policy or POLICY
    if not path.is_file():
        advice = "name it with -p FILE" if policy is None else "-p wants a policy file"
        raise PolicyError(f"no policy file {path}: {advice}, or make one with: sqlanon init --db URL TABLE -o anon.yml")
    return read(path, connection=db is None)


def find_policy(db: str | None, policy: Path | None) -> PolicySpec | None:
    """The policy for commands that can do without: -p, else ``anon.yml`` here unless --db is given alone."""
    if policy is not None or (db is None and POLICY.is_file()):
        return load(policy, db)
    return None


class FromVariables(str):
    """A URL that has values of the environment in it, which nobody is shown.

    Attributes:
        written: as the policy has it.
    """

    __slots__ = ("written",)
    written: str

    @classmethod
    def of(cls, url: str, text: str) -> FromVariables:
        """A URL, and how the policy writes it."""
        instance = cls(url)
        instance.written = text
        return instance


def find_url(db: str | None, policy: PolicySpec | None) -> str:
    """The database to use: --db, else the policy's connection."""
    url = db or (policy.connection if policy is not None else None)
    if not url:
        where = "the policy has no connection" if policy is not None else "no policy file anon.yml here"
        raise PolicyError(f"no database: {where}; give --db duckdb:///path, --db postgresql://... or --db sc://...")
    if not db and policy is not None and policy.makes_file:
        from sqlanon.engines import make_state

        make_state(url)
    if not db and policy is not None and policy.written is not None:
        return FromVariables.of(url, policy.written)
    return url


def pick(policy: PolicySpec, select: Sequence[str] | None, option: str = "--select: ") -> tuple[ReleaseSpec, ...]:
    """The releases that --select names, in the policy's order; all of them without it.

    ``option``: the beginning of an error's text.
    """
    if not select:
        return policy.releases
    unit_names = list(
        dict.fromkeys(release.together.name if release.together else release.name for release in policy.releases)
    )
    names = {*unit_names, *(release.name for release in policy.releases)}
    unknown = [name for name in select if name not in names]
    if unknown:
        raise PolicyError(f"{option}no release {', '.join(unknown)} in the policy; it has: {', '.join(unit_names)}")
    return tuple(
        release
        for release in policy.releases
        if release.name in select or (release.together and release.together.name in select)
    )


def collect_reading(
    null: Sequence[str] | None,
    delimiter: str | None,
    encoding: str | None,
    types: Sequence[str] | None,
    decimal: str | None,
    ignore: Sequence[str] | None,
    date_format: str | None,
) -> dict[str, Any]:
    """The options that say how a CSV file is read, as `sqlanon.anonymize` takes them; only those that were given."""
    settings = {
        "null": tuple(null or ()),
        "delimiter": delimiter,
        "encoding": encoding,
        "types": parse_pairs("--types", types),
        "decimal": decimal,
        "ignore": tuple(ignore or ()),
        "date_format": date_format,
    }
    return {name: value for name, value in settings.items() if value}


def first_option(options: Mapping[str, Any]) -> str:
    """The first of the options that were given, as it is written."""
    return "--" + next(iter(options)).replace("_", "-")


@contextmanager
def open_database(where: str, screen: Screen, *, read_only: bool = False) -> Iterator[Database]:
    """A connection that reports progress to the screen, closed at the end; ``read_only`` shares a DuckDB file."""
    from sqlanon import connect

    confirmed: dict[str, Any] = dict(collect_confirmations(where, screen.confirmed))
    try:
        connected = connect(where, progress=screen.progress(), read_only=read_only, **confirmed)
    except Exception as error:
        if not isinstance(where, FromVariables):
            raise
        # Whoever writes the policy may name any variable: no part of its value is printed, nor in the cause.
        kind = type(error) if isinstance(error, SqlanonError) else DatabaseError
        advice = getattr(error, "advice", "") or "with --db URL the error has the reason"
        raise kind(
            f"the database of connection: {where.written} cannot be opened, and values of variables are not shown: "
            f"{advice}"
        ) from None
    try:
        yield connected
    finally:
        screen.close()
        connected.close()


def next_command(
    screen: Screen,
    name: str,
    policy: Path | None,
    select: list[str] | None,
    db: str | None,
    *arguments: str,
    words: Sequence[str] = (),
) -> str:
    """A command to try next, with the policy, database and confirmations of this command.

    ``words``: the options of that command itself.
    """
    from sqlanon.cli.show.text import command, hide_password

    options = [*words]
    if policy is not None and policy != POLICY:
        options += ["-p", str(policy)]
    for selected in select or ():
        options += ["--select", selected]
    if db is not None:
        options += ["--db", hide_password(db)]
    return command(name, *arguments, options=[*options, *screen.confirmed])
