"""Statements that make and drop scratch tables run beside each other, and beside statements that do not need them.

Much of the time of a statement is spent in the driver, where executors have nothing to do.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError

TOGETHER = 8
"""So many statements at a time; executors divide their cores among the tasks of all."""
_NOTES = r"(?:--[^\n]*\n|/\*.*?\*/|\s)*"
_SUBJECT = re.compile(
    rf"{_NOTES}(CREATE TABLE(?! IF)|CREATE TEMPORARY (?:VIEW|TABLE)|DROP TABLE IF EXISTS|DROP VIEW IF EXISTS) (\S+)",
    re.DOTALL,
)
_VERB = re.compile(rf"{_NOTES}(SELECT|WITH|CREATE TABLE|CREATE TEMPORARY|INSERT INTO)\b", re.DOTALL)
Execute = Callable[[Statement], None]
"""Runs a statement."""
_SCRATCH = re.compile(r"_sqlanon_[0-9a-f]{8}_\w+")


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that a statement makes or drops: the name, and the statement's text with the names that it reads.

    ``scratch``: it is a table or view of a run.
    """

    name: str
    drops: bool
    text: str
    scratch: bool

    def follows(self, other: Subject) -> bool:
        """Whether the statement must run after an earlier one.

        A drop never runs beside a creation, which may read through a view.
        """
        if self.drops and not other.drops:
            return True
        return is_named(other.name, self.text) or is_named(self.name, other.text)


def is_named(name: str, text: str) -> bool:
    """Whether a statement may name an object: the name is there as a word.

    >>> is_named("t", "SELECT 1 FROM `s`.`t_link`"), is_named("t", "SELECT 1 FROM s.t")
    (False, True)
    """
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not (_is_letter(text[start - 1 : start]) or _is_letter(text[end : end + 1])):
            return True
        start = text.find(name, start + 1)
    return False


def _is_letter(text: str) -> bool:
    return text == "_" or text.isalnum()


def find_subject(statement: Statement) -> Subject | None:
    """The object that a statement makes or drops; None: it does something else, or has values, and runs alone.

    A table that is no run's own is dropped alone, too: those of a version are dropped in an order by which a kill
    leaves none half there.

    >>> find_subject(Statement("a", "/* name: a */ CREATE TABLE `s`.`t` AS SELECT 1")).name
    't'
    """
    match = None if statement.binds else _SUBJECT.match(statement.text)
    if match is None:
        return None
    drops, name = match[1].startswith("DROP"), match[2].rpartition(".")[2].strip("`")
    scratch = _SCRATCH.fullmatch(name) is not None
    return None if drops and not scratch else Subject(name, drops, statement.text, scratch)


class BackgroundStatements:
    """The statements of a session that run in threads.

    A statement that needs a table, or drops one that is read, waits first. Errors are raised there, and no later than
    when all are waited for: that of one statement, when all have ended, and the others then are not raised any more.
    """

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._pool: ThreadPoolExecutor | None = None
        self._free = threading.Semaphore(TOGETHER)
        self._calls: list[tuple[Subject, Future[None]]] = []
        self._inside = threading.local()

    def run(self, statements: Sequence[Statement], execute: Execute) -> None:
        """Run statements; those that make or drop scratch tables may still run afterwards."""
        for statement in statements:
            subject = find_subject(statement)
            if subject is None:
                execute(statement)  # waits for the tables that it needs
            else:
                self._begin(statement, subject, execute)
        self._wait(lambda subject: not subject.scratch)

    def _begin(self, statement: Statement, subject: Subject, execute: Execute) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(4 * TOGETHER, "sqlanon-batch")
        before = [call for other, call in self._calls if subject.follows(other)]
        call = self._pool.submit(self._run, statement, execute, subject.drops, before)
        self._calls.append((subject, call))

    def _run(self, statement: Statement, execute: Execute, drops: bool, before: Sequence[Future[None]]) -> None:
        for call in before:  # these were submitted earlier, so that each has a thread
            if call.exception() and not drops:
                call.result()
        with self._free:
            self._inside.here = True
            try:
                execute(statement)
            except DatabaseError:
                if not drops:
                    raise
                execute(statement)  # a run forgets a table when its drop is sent: nobody else tries it again

    @property
    def busy(self) -> bool:
        """Whether a statement runs."""
        return any(not call.done() for _, call in self._calls)

    def wait_for(self, text: str) -> None:
        """Wait for the tables that a statement needs, which is run now.

        Args:
            text: of the statement. A query waits for the tables that it names, an INSERT for all statements that may
                read the table, any other statement for all.
        """
        verb = _VERB.match(text)
        reads = verb is not None
        added = verb is not None and verb[1] == "INSERT INTO"
        self._wait(lambda subject: not reads or is_named(subject.name, text) or (added and not subject.drops))

    def wait_for_table(self, name: str) -> None:
        """Wait for the statement that makes or drops a table or view."""
        self._wait(lambda subject: subject.name == name)

    def wait_for_creations(self) -> None:
        """Wait for all statements but those that drop."""
        self._wait(lambda subject: not subject.drops)

    def wait(self) -> None:
        """Wait for all statements."""
        self._wait(lambda _: True)

    def close(self) -> None:
        """End the threads, once their statements have ended."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _wait(self, needed: Callable[[Subject], bool]) -> None:
        if not self._calls or getattr(self._inside, "here", False):
            return
        some = [call for subject, call in self._calls if needed(subject)]
        wait(some)
        failed = next((call for call in some if call.exception()), None)
        if failed is not None:  # statements that tidy up afterwards do not meet this error again, or others of now
            wait([call for _, call in self._calls])
            self._calls = []
            failed.result()
        self._calls = [(subject, call) for subject, call in self._calls if not call.done() or call.exception()]
