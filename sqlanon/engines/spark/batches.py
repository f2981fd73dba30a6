"""Parallel runs of statements in a batch that do not depend on each other.

Much of the time of a statement is spent in the driver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sqlanon.engines.base import Statement

TOGETHER = 4
"""So many statements at a time; executors divide their cores among the tasks of all."""
_SUBJECT = re.compile(
    r"(?:--[^\n]*\n|/\*.*?\*/|\s)*"
    r"(CREATE TABLE(?! IF)|CREATE TEMPORARY (?:VIEW|TABLE)|DROP TABLE IF EXISTS|DROP VIEW IF EXISTS) (\S+)",
    re.DOTALL,
)
_SCRATCH = re.compile(r"`_sqlanon_[0-9a-f]{8}_")


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that a statement makes or drops: the name, and the statement's text with the names that it reads."""

    name: str
    drops: bool
    text: str

    def touches(self, other: Subject | None) -> bool:
        """Whether one of the two must run before the other.

        A drop never runs beside a creation, which may read through a view.
        """
        if other is None or self.drops != other.drops:
            return True
        return self.name in other.text or other.name in self.text


def find_subject(statement: Statement) -> Subject | None:
    """The object that a statement makes or drops; None: it does something else, or has values, and runs alone.

    A table that is no run's own is dropped alone, too: those of a version are dropped in an order by which a kill
    leaves none half there.

    >>> find_subject(Statement("a", "/* name: a */ CREATE TABLE `s`.`t` AS SELECT 1")).name
    '`s`.`t`'
    """
    match = None if statement.binds else _SUBJECT.match(statement.text)
    if match is None:
        return None
    drops = match[1].startswith("DROP")
    return None if drops and not _SCRATCH.search(match[2]) else Subject(match[2], drops, statement.text)


def split_steps(statements: Sequence[Statement]) -> list[list[Statement]]:
    """The statements in parts: those of a part neither read nor drop objects of other statements of the part."""
    parts: list[list[tuple[Statement, Subject | None]]] = []
    for statement in statements:
        subject, place = find_subject(statement), len(parts)
        while subject is not None and place > 0 and not any(subject.touches(other) for _, other in parts[place - 1]):
            place -= 1
        if place == len(parts):
            parts.append([])
        parts[place].append((statement, subject))
    return [[statement for statement, _ in part] for part in parts]


def run(statements: Sequence[Statement], execute: Callable[[Statement], None]) -> None:
    """Run statements; the error of the first that fails is raised, after all that run have ended."""
    for part in split_steps(statements):
        if len(part) == 1:
            execute(part[0])
            continue
        with ThreadPoolExecutor(TOGETHER, "sqlanon-batch") as pool:
            waiting = [pool.submit(execute, statement) for statement in part]
        for call in waiting:
            call.result()
