"""k-anonymity (Samarati; Sweeney; LeFevre et al. 2006, section 1.1): every class has at least k rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import count, numbers
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement, Shape, Sizes
from sqlanon.spec import PrivacySpec
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.kernels.tally import Tally


@dataclass(frozen=True, slots=True)
class KAnonymity(Requirement):
    """At least ``asked`` rows in every class."""

    name: ClassVar[str] = "k"
    asked: Fraction
    column: str | None = None

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[KAnonymity]:
        """Always asked, k = 1 at least."""
        return [cls(Fraction(privacy.k))]

    @property
    def shape(self) -> Shape:
        return Shape("rows", int(self.asked))

    def tally(self, coded: Coded) -> Tally:
        """Kernels count rows themselves."""
        raise NotImplementedError

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        scratch.execute("privacy/below_rows", **rows.parameters(failing), asked=int(self.asked))

    def largest(self, engine: Engine, rows: Grouped) -> Fraction:
        """All rows."""
        return Fraction(count(engine, statement("table/count", engine.dialect, source=rows.table)))

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        query = statement(
            "verify/k_anonymity",
            engine.dialect,
            {"asked": int(self.asked)},
            target=rows.table,
            classes=list(rows.groups),
            count=rows.count,
        )
        classes, smallest, largest, _, _, failing = numbers(engine, query)
        return Measured(Fraction(smallest), failing, Sizes(classes, smallest, largest))


def of_units(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """Request to a method with persons as rows: k of them."""
    return tuple(requirement for requirement in requirements if isinstance(requirement, KAnonymity))
