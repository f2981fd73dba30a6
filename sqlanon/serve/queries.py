"""Statements of a session: destination of a SELECT, parameters, columns, rows."""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlanon.errors import SqlanonError
from sqlanon.query.answer import Answer
from sqlanon.query.limits import Limits, limit_query
from sqlanon.query.parse.parse import Query
from sqlanon.query.parse.text_limits import readable
from sqlanon.serve import answers, texts
from sqlanon.serve.access import AccessLog
from sqlanon.serve.answer_buffer import AnswerMemory
from sqlanon.serve.cancel import Cancel
from sqlanon.serve.catalog.calls import Asker
from sqlanon.serve.catalog.database import CatalogDatabase
from sqlanon.serve.catalog.rewrite import rewritten
from sqlanon.serve.client_tables import ServedTable
from sqlanon.serve.commands import QUERIES, Commands, seconds_of
from sqlanon.serve.pool import Turn
from sqlanon.serve.query_connections import Question, ReleaseQuestions
from sqlanon.serve.refusals import NOT_SUPPORTED, QueryText, ServeError, explain
from sqlanon.serve.tables import find_meant, parse_text
from sqlanon.serve.texts import Output, Piece
from sqlanon.serve.values import FLOAT8, TEXT, Column, Result, Type, decode, element_of

CELLS = 250_000
"""Values of an answer, at most: as Python has them, they take a hundred bytes and more each."""
R = TypeVar("R")
_SAMPLES: dict[int, object] = {
    **dict.fromkeys((20, 21, 23, 26, 1700), 1),
    **dict.fromkeys((700, 701), 1.5),
    16: True,
    1082: datetime.date(2000, 1, 1),
    1114: datetime.datetime(2000, 1, 1),
    1184: datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC),
}
"""Values of parameters, by the numbers of their types, to describe a statement before the values are known."""


@dataclass(frozen=True)
class ParsedText:
    """A statement that was read.

    Attributes:
        piece: the text; None: the statement is empty.
        types: numbers of the parameters' types.
        served: the release that is asked; None: the catalog is asked, or nothing.
        columns: columns of the result; None: not described.
    """

    piece: Piece | None
    types: tuple[int, ...] = ()
    served: ServedTable | None = None
    columns: tuple[Column, ...] | None = None

    @property
    def is_query(self) -> bool:
        """Whether it is a SELECT."""
        return self.piece is not None and self.piece.words[0] in QUERIES


class ServerState:
    """Objects and settings that all sessions share.

    Args:
        asking: answers over releases.
        rows: most rows of an answer.
        log: the access log.
        bounds: sessions begin with the bounds of answers on.
    """

    def __init__(self, asking: ReleaseQuestions, rows: int, log: AccessLog, *, bounds: bool = False) -> None:
        self.asking, self.rows, self.log, self.bounds = asking, rows, log, bounds
        self.dialect = asking.dialect
        self.room = AnswerMemory()
        self._guard = threading.Lock()
        self._catalog: CatalogDatabase | None = None

    def catalog(self) -> CatalogDatabase:
        """The catalog of the releases that there are."""
        served = self.asking.list_served()
        with self._guard:
            if self._catalog is None or self._catalog.served != served:
                if self._catalog is not None:
                    self._catalog.close()
                self._catalog = CatalogDatabase(served)
            return self._catalog

    def close(self) -> None:
        """Close the connections and the catalog."""
        self.asking.close()
        with self._guard:
            if self._catalog is not None:
                self._catalog.close()


class Queries:
    """Answers the statements of a session.

    Args:
        shared: the objects that all sessions share.
        commands: the session's settings and transaction.
        user: name of the user.
        address: the client's address.
        pid: the session's number.
    """

    def __init__(self, shared: ServerState, commands: Commands, user: str, address: str, pid: int) -> None:
        self._shared, self._commands, self._pid = shared, commands, pid
        self._user, self._address = user, address
        self.cancel = Cancel()

    @property
    def _seconds(self) -> float:
        return seconds_of(self._commands.variables, self._shared.asking.seconds)

    @property
    def _turn(self) -> Turn:
        """Of a question that is asked now."""
        return Turn(self._user, time.monotonic() + self._seconds, self.cancel)

    def _limit(self, turn: Turn | None = None) -> AbstractContextManager[Limits]:
        """The limits of work in this process alone."""
        seconds = self._seconds if turn is None else turn.seconds
        return limit_query(_cancel_nothing, seconds, unwanted=self.cancel.is_wanted)

    def prepare(self, piece: Piece, declared: Sequence[int] = ()) -> ParsedText:
        """Read a statement.

        Args:
            piece: the text.
            declared: numbers of the parameters' types; 0: not known.

        Raises:
            ServeError: it does not parse, or asks tables that there are not.
        """
        self._commands.check(piece)
        if piece.words[0] not in QUERIES:
            return ParsedText(piece, tuple(declared))
        with _place_errors(piece):
            return self._read(piece, declared)

    def _read(self, piece: Piece, declared: Sequence[int]) -> ParsedText:
        with self._limit() as limits, readable(), limits.rewriting():
            tree = parse_text(piece.text, self._shared.dialect)
        served = find_meant(tree, self._shared.asking)  # asks the database, which nothing may interrupt halfway
        with self._limit() as limits, readable(), limits.rewriting():
            columns = {column.name.lower(): column.type for column in served.columns} if served is not None else {}
            types = texts.parameter_types(piece, declared, columns)
        return ParsedText(piece, tuple(types), served)

    def describe(self, prepared: ParsedText) -> ParsedText:
        """The same statement with columns, for sample values of the parameters."""
        if prepared.piece is None or prepared.columns is not None:
            return prepared
        if not prepared.is_query:
            return replace(prepared, columns=self._commands.columns(prepared.piece))
        with _place_errors(prepared.piece):
            return self._describe(prepared)

    def _describe(self, prepared: ParsedText) -> ParsedText:
        assert prepared.piece is not None
        values = [_sample(oid) for oid in prepared.types]
        if prepared.served is None:
            return replace(prepared, columns=self._ask_catalog(prepared.piece, values, rows=0).columns)
        question, outputs = self._write_question(prepared.piece, prepared.served, values)
        turn = self._turn
        try:
            with self._limit(turn) as limits, readable():
                with limits.rewriting():
                    queries = answers.read(question, self._shared.dialect)
                    query, bounded = queries[0], answers.has_bounds(queries[0])
                types = self._types(question.text, queries, prepared.served, turn) or {
                    name: FLOAT8 if name in bounded else TEXT for name, _ in query.items
                }
        except SqlanonError as error:
            raise explain(error, question) from error
        names = [name for name, _ in query.items]
        cells = answers.cells(names, bounded, outputs, bounds=self._commands.variables.bounds)
        return replace(prepared, columns=answers.columns_of(cells, types, bounded))

    def run(
        self,
        prepared: ParsedText,
        parameters: Sequence[tuple[bytes | None, bool]] = (),
        *,
        shape: Callable[[Result], R],
    ) -> R:
        """Answer a statement.

        Args:
            prepared: the statement; it is not empty.
            parameters: the values as received, and whether in binary form.
            shape: makes the object to keep from the result.

        Raises:
            ServeError: it is refused.
        """
        assert prepared.piece is not None
        piece, begun = prepared.piece, time.monotonic()
        facts: dict[str, str | int | float] = {"user": self._user, "address": self._address}
        event = "ask" if prepared.served is not None else "catalog" if prepared.is_query else "command"
        try:
            self._commands.check(piece)
            values = [
                None if data is None else decode(data, oid, binary)
                for (data, binary), oid in zip(parameters, prepared.types, strict=False)
            ]

            def count_rows(result: Result) -> R:
                facts["rows"] = len(result.rows)
                self.cancel.check()  # a request that no watcher saw, as each part of the work was short
                return shape(result)

            if not prepared.is_query:
                outcome = shape(self._commands.run(piece))
            elif prepared.served is None:
                outcome = count_rows(self._ask_catalog(piece, values, rows=self._shared.rows))
            else:
                facts["release"] = prepared.served.release
                outcome, facts["version"] = self._ask_release(prepared, values, count_rows)
        except Exception as error:
            shown = explain(error)
            facts["code"] = shown.code
            raise shown.at(piece.place(shown.position)) from error
        else:
            return outcome
        finally:
            if event != "command":
                facts["seconds"] = round(time.monotonic() - begun, 4)
                self._shared.log.write(event, **facts, text=piece.text)

    def _ask_release(
        self, prepared: ParsedText, values: Sequence[object], shape: Callable[[Result], R]
    ) -> tuple[R, int]:
        piece, served = prepared.piece, prepared.served
        assert piece is not None
        assert served is not None
        question, outputs = self._write_question(piece, served, values)
        shared, bounds = self._shared, self._commands.variables.bounds
        turn = self._turn  # a single deadline for everything
        try:
            with self._limit(turn) as limits, readable(), limits.rewriting():
                queries = answers.read(question, shared.dialect)
            types = self._types(question.text, queries, served, turn) if prepared.columns is None else None

            def shape_answer(answer: Answer, version: int) -> tuple[R, int]:
                cells = answers.cells(answer.columns, answer.aggregates, outputs, bounds=bounds)
                columns = prepared.columns
                if columns is None:
                    columns = answers.columns_of(cells, types or answers.types_by_values(answer), answer.aggregates)
                if len(columns) != len(cells):
                    raise ServeError(NOT_SUPPORTED, "the answer has other columns than were described; ask again")
                return shape(answers.result(answer, cells, columns)), version

            rows = max(min(shared.rows, CELLS // len(queries[0].items)), 1)
            return shared.asking.ask(Question(served, question.text, rows), turn, shape_answer)
        except SqlanonError as error:
            raise explain(error, question, cancelled=self.cancel.is_wanted()) from error

    def _types(
        self, question: str, queries: Sequence[Query], served: ServedTable, turn: Turn
    ) -> dict[str, Type] | None:
        """The types of a query's columns, by the database; None: it does not give them."""
        text = answers.select_types(question, queries, served, self._shared.dialect)
        if text is None:
            return None
        try:
            return answers.types_by_names(queries[0], self._shared.asking.types(text, turn))
        except (SqlanonError, ValueError):
            return None

    def _ask_catalog(self, piece: Piece, values: Sequence[object], *, rows: int) -> Result:
        question = texts.bound(piece.text, texts.parameters(piece), values)
        catalog, variables = self._shared.catalog(), self._commands.variables
        change = variables.set if rows else None
        asker = Asker(self._user, catalog.schemas[0], catalog.schemas, self._pid, variables.values, change)
        try:
            with self._limit() as limits, readable(), limits.rewriting():
                text = rewritten(parse_text(question.text), asker)
        except ServeError as error:
            raise error.at(question.place(error.position - 1) + 1 if error.position else 0) from error
        if rows:
            return catalog.fetch(text, self._turn, rows)
        return catalog.fetch(f"FROM ({text}) AS described LIMIT 0", self._turn, 1)

    def _write_question(
        self, piece: Piece, served: ServedTable, values: Sequence[object]
    ) -> tuple[QueryText, list[Output]]:
        """The text for the release, and the outputs that the client asked for."""
        edits, outputs = texts.take_bounds(piece, {column.name.lower() for column in served.columns})
        edits += texts.with_values(texts.parameters(piece), values, self._shared.dialect)
        return texts.edit(piece.text, sorted(edits)), outputs


def _sample(oid: int) -> object:
    element = element_of(oid)
    return _SAMPLES.get(oid, "") if element is None else [_SAMPLES.get(element.oid, "")]


@contextmanager
def _place_errors(piece: Piece) -> Iterator[None]:
    """Errors have the places of the client's text."""
    try:
        yield
    except ServeError as error:
        raise error.at(piece.place(error.position)) from error


def _cancel_nothing() -> None:
    """Nothing to cancel: only this process works."""
