"""A column's values and their codes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.table.reading import Reading

DENSE = 1 << 20
"""Greatest width of a range of integers with codes in an array."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A column's values and their codes.

    Attributes:
        reading: the column.
        table: scratch table (code, value, n, pos, ord).
        codes: number of codes, with the code of NULL.
        size: |A|, values without NULL; leaves of the file for a hierarchy.
        nulls: rows that are NULL; if any, NULL is code 0.
        distinct: values present, without NULL.
        singles: rows with a value that occurs once.
        top: rows of the most frequent value, NULL included.
        code: the code column's name in the work table: c1.. quasi, a1.. sensitive, b1.. of persons.
        spread: of an ordered column, the range of the domain; None: not computed yet.
    """

    reading: Reading
    table: TableRef
    codes: int
    size: int
    nulls: int
    distinct: int
    singles: int
    top: int
    code: str
    spread: float | None = None

    @property
    def has_null(self) -> bool:
        """Whether code 0 means NULL."""
        return self.nulls > 0

    @property
    def fits_bits(self) -> bool:
        """Whether a set of the values fits into the bits of one integer: of a nominal column with few of them."""
        return self.reading.treatment == "nominal" and self.codes <= 62

    def is_dense(self, rows: int) -> bool:
        """Whether the values are integers in a range that is small beside so many rows."""
        whole = self.reading.column.kind == "integer" and self.reading.treatment == "ordered"
        return whole and self.spread is not None and self.spread < min(4 * rows, DENSE)

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters of templates that find the codes of the column's values in a table."""
        return {
            "code": self.code,
            "name": self.reading.name,
            "alias": self.reading.alias,
            "domain": self.table,
            "nulls": self.has_null,
            "as_float": self.reading.as_float,
            "as_text": self.reading.as_text,
        }

    @property
    def code_type(self) -> str:
        """The narrow integer type of the codes."""
        return "SMALLINT" if self.codes <= 32767 else "INTEGER"

    @property
    def code_array(self) -> str:
        """The same as NumPy names it."""
        return "int16" if self.code_type == "SMALLINT" else "int32"


@dataclass(frozen=True, slots=True)
class Domains:
    """The domains of a run's columns, by role.

    Attributes:
        quasi, sensitive: the columns of these roles.
        persons: the numbers of the counted identifiers.
    """

    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...] = ()
    persons: tuple[Domain, ...] = ()
