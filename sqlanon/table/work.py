"""The codes of the staged rows: a table, made on first use, or a query for a single reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import Bind, Statement, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import DatabaseError
from sqlanon.table.wide_tables import FEW, in_parts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs
    from sqlanon.table.domain import Domain
    from sqlanon.table.scratch import Scratch


PARTS = 4
"""Most parts in which codes are read without a table: each is a scan of the stage, which has wider rows."""
BLOCK = 1 << 24
"""More rows than these are sent in several values: PostgreSQL's hold 1 GiB."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Where codes are in the words of a row: integers of 64 bits that are never negative.

    Attributes:
        places: of each code the word, and by how many bits it is shifted there.
        bits: number of bits of each code.
    """

    places: tuple[tuple[int, int], ...]
    bits: tuple[int, ...]

    @classmethod
    def of(cls, bits: Sequence[int]) -> Packing:
        """Codes of so many bits, one after the other; a word has 63 of them."""
        places: list[tuple[int, int]] = []
        word = used = 0
        for width in bits:
            if used + width > 63:
                word, used = word + 1, 0
            places.append((word, used))
            used += width
        return cls(tuple(places), tuple(bits))

    @property
    def words(self) -> tuple[str, ...]:
        """The words' columns."""
        return tuple(f"w{word}" for word in range(self.places[-1][0] + 1))

    def codes(self, words: Sequence[Longs]) -> list[Ints]:
        """The codes that are in words of rows, each int32[n]."""
        import numpy as np

        return [
            (words[word] >> shift & (1 << width) - 1).astype(np.int32)
            for (word, shift), width in zip(self.places, self.bits, strict=True)
        ]


class Work:
    """rid and a code of every value, for every staged row."""

    def __init__(
        self, scratch: Scratch, stage: TableRef, domains: Sequence[Domain], rows: int, *, once: bool = False
    ) -> None:
        """Nothing is made yet.

        Args:
            scratch: the run.
            stage: the staged rows.
            domains: the columns that have codes.
            rows: how many rows there are.
            once: the codes are likely to be read once, by a kernel, so that a table would be written for one scan.
        """
        self.once = once
        self._scratch, self._stage, self._domains, self._rows = scratch, stage, domains, rows
        self._made: TableRef | None = None
        self._asked = False

    def table(self) -> TableRef:
        """The table (rid integer, a code column per column, never NULL), made now if there is none.

        Cost: a scan of the stage that joins every column with the domain.
        """
        if self._made is None:
            scratch = self._scratch
            with scratch.together():
                self._made = in_parts(scratch, "work", "rid", self._domains, self._part)
                counted_rows = scratch.fetch("table/count", source=self._made)[0][0]
            check_rows(self._rows, read_integer(counted_rows))
        return self._made

    @property
    def made(self) -> TableRef | None:
        """The table, if there is one."""
        return self._made

    @property
    def packing(self) -> Packing:
        """Where `packed` has each code."""
        return Packing.of([max(domain.codes - 1, 1).bit_length() for domain in self._domains])

    @property
    def parts(self) -> dict[str, dict[str, object]]:
        """By the name of each code where `packed` has it, as templates read it."""
        packing = self.packing
        return {
            domain.code: {
                "code": domain.code,
                "word": packing.words[word],
                "shift": shift,
                "mask": (1 << width) - 1,
            }
            for domain, (word, shift), width in zip(self._domains, packing.places, packing.bits, strict=True)
        }

    def select_packed(
        self, table: TableRef | None = None, carried: Sequence[str] = (), *, one_in: int = 1
    ) -> Statement:
        """The query of row ids and of all codes in words, or the statement that makes a table of it; see `Packing`.

        Who has read all rows calls `check_rows`.

        Args:
            table: the table to make.
            carried: further columns of the staged rows.
            one_in: of so many rows one is taken, always the same; 1: all rows are.
        """
        packing = self.packing
        return self._scratch.sql(
            "table/work",
            work=table,
            stage=self._stage,
            columns=self._columns(self._domains, packing.places),
            words=len(packing.words),
            carried=carried,
            span=False,
            among=None,
            one_in=one_in,
        )

    def read(self, domains: Sequence[Domain], span: tuple[int, int] | None) -> Sequence[npt.NDArray[np.generic]] | None:
        """The row ids and the codes of some columns, where the table would not serve better; None: read the table.

        That depends on the engine, and without `Engine.fetch_words` on the run: to make a table of few rows, or for a
        single scan, takes longer than to read them. It pays for the first who reads the rows, if few columns are joined
        and the rows are read in few parts. Who has read all rows calls `check_rows`.

        Args:
            domains: the columns.
            span: only rows with a rid from the first of these numbers to before the second; a reader begins at 0.
        """
        first, past = span or (0, self._rows)
        fetch = self._scratch.engine.fetch_words
        if len(domains) > FEW or self._made is not None or (first == 0 and self._asked):
            return None
        if fetch is None and not self.once and not (self._scratch.few and span is None):
            return None
        if fetch is not None and self._rows > PARTS * (past - first):
            return None
        self._asked = True
        binds: dict[str, Bind] = {} if span is None else {"first": first, "past": past}
        if fetch is None:
            codes = self._scratch.sql(
                "table/work",
                binds,
                work=None,
                stage=self._stage,
                columns=self._columns(domains),
                words=0,
                span=span is not None,
                among=None,
            )
            types = ["int32", *(domain.code_array for domain in domains)]
            return self._scratch.fetch_arrays(codes, types)
        bits = [max(self._rows - 1, 1).bit_length(), *(domain.codes.bit_length() for domain in domains)]
        packing = Packing.of(bits)
        statement = self._scratch.sql(
            "table/work",
            binds,
            work=None,
            stage=self._stage,
            columns=self._columns(domains, packing.places[1:]),
            words=len(packing.words),
            carried=(),
            blocks=self._rows > BLOCK,
            span=span is not None,
        )
        return packing.codes(fetch(statement))

    def drop(self) -> None:
        """Drop the table, if any; who asks for it later has it made anew."""
        if self._made is not None:
            self._scratch.drop(self._made)
            self._made = None

    def table_among(self, rows: TableRef) -> TableRef:
        """As `table`, where there is none yet with the rows in ``rows`` (rid) alone, for one reader who drops it.

        The engine's words are not fetched (`Engine.fetch_words`).
        """
        if self._made is not None:
            return self._made
        return in_parts(
            self._scratch, "among", "rid", self._domains, lambda table, some, _: self._part(table, some, among=rows)
        )

    def _part(
        self, table: TableRef, domains: Sequence[Domain], _: bool = False, *, among: TableRef | None = None
    ) -> list[str]:
        columns = self._columns(domains)
        self._scratch.execute("table/work", work=table, stage=self._stage, columns=columns, words=0, among=among)
        return [domain.code for domain in domains]

    def _columns(self, domains: Sequence[Domain], places: Sequence[tuple[int, int]] = ()) -> list[dict[str, object]]:
        return [
            {
                "place": index + 1,
                "word": places[index][0] if places else 0,
                "shift": places[index][1] if places else 0,
                "alias": domain.reading.alias,
                "domain": domain.table,
                "type": domain.code_type,
                "nulls": domain.has_null,
                "as_float": domain.reading.as_float,
                "as_text": domain.reading.as_text,
                "listed": domain.reading.listed,
                "code": domain.code,
                "dense": domain.is_dense(self._rows),
            }
            for index, domain in enumerate(domains)
        ]


def check_rows(rows: int, coded: int) -> None:
    """Refuse codes of fewer or more rows than were staged.

    Raises:
        DatabaseError: ``coded`` rows have codes, and not ``rows``.
    """
    if coded != rows:
        raise DatabaseError("encoding lost or doubled rows; nothing was published. This is a defect of sqlanon")
