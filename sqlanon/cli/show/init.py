"""A proposal for a file, as the command that anonymizes it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.cli.show.text import clean, list_option, program
from sqlanon.shell import pair, word
from sqlanon.spec import FormatSpec

if TYPE_CHECKING:
    from sqlanon.policy import Proposal

OPTIONS = (
    ("identifier", "--identifier"),
    ("quasi", "--qi"),
    ("sensitive", "--sensitive"),
    ("insensitive", "--insensitive"),
)


def file_command(proposal: Proposal, source: str, reading: Mapping[str, Any], *, printed: bool = False) -> str:
    """A shell script of a command, with the reason for each role before it.

    Args:
        proposal: for the file.
        source: the file.
        reading: how it was read, as `sqlanon.anonymize` takes it.
        printed: it is shown, not written to a file: control characters of names are then escapes, which bash, zsh and
            ksh read.
    """
    lines = ["# Proposed by sqlanon init from names, types and counts. Check every role before it runs:"]
    lines += [f"# {clean(column.name)}: {column.role}; {clean(column.reason)}" for column in proposal.columns]
    lines += [f"# {note}" for note in proposal.notes()]
    if proposal.diversity:
        lines.append(f"# {clean(proposal.diversity)}")
    words: list[str] = []
    for role, option in OPTIONS:
        words += list_option(option, [column.name for column in proposal.columns if column.role == role])
    words += list_option("--accept-repeats", [column.name for column in proposal.columns if column.accept_repeats])
    for column in proposal.columns:
        for key, value in column.settings:
            words += [f"--{key}", pair(column.name, value)]
    if proposal.person:
        words += list_option("--person", proposal.person)
    elif proposal.rows_are == "events":
        words += ["--rows-are", "events"]
    if proposal.null_person:
        words += ["--null-person", proposal.null_person]
    words += ["--k", str(proposal.k)]
    if proposal.l is not None:
        words += ["--l", str(proposal.l)]
    if proposal.distinct_l is not None:
        words += ["--distinct-l", str(proposal.distinct_l)]
    if proposal.format != FormatSpec().kind:
        words += ["--format", proposal.format]
    for name in ("null", "ignore"):
        for text in reading.get(name, ()):
            words += [f"--{name}", text]
    for name in ("delimiter", "encoding", "decimal", "date_format"):
        if name in reading:
            words += [f"--{name.replace('_', '-')}", reading[name]]
    for column, kind in reading.get("types", {}).items():
        words += ["--types", pair(column, kind)]
    path = Path(source)
    to = path.with_name(f"{path.name.split('.')[0]}_anonymized{'.parquet' if path.suffix == '.parquet' else '.csv'}")
    words += ["--to", str(to)]
    if "\0" in "".join(words):
        lines.append("# no command can hold a column's name here")
    return "\n".join([*lines, _script(source, words, word if printed else shlex.quote)]) + "\n"


def _script(source: str, words: Sequence[str], quoted: Callable[[str], str]) -> str:
    """The command. In a file a line break in quotes stays one, whatever shell reads it."""
    ordered = [*words, "--", source] if source.startswith("-") else [source, *words]
    return f"{program()} anonymize {' '.join(map(quoted, ordered))}"


def format_written(path: Path, following: str) -> str:
    """The message after the proposal was written to a file."""
    return f"wrote {word(str(path))}: check every role in it, then: {following}"
