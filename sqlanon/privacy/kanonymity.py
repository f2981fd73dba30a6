"""k-anonymity (Samarati; Sweeney; LeFevre et al. 2006, section 1.1): every class has at least k rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Check, Measured, Sizes
from sqlanon.spec import PrivacySpec
from sqlanon.sqltext import statement


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """At least ``asked`` rows in every class."""

    asked: Fraction
    name: str = "k"
    column: str | None = None
    monotone: bool = True

    @classmethod
    def asked_by(cls, privacy: PrivacySpec, sensitive: tuple[str, ...]) -> Sequence[KAnonymity]:
        """Always asked, k = 1 at least."""
        return [cls(Fraction(privacy.k))]

    def check(self) -> Check:
        """See `Requirement.check`."""
        return Check("rows", int(self.asked))

    def measure(
        self,
        engine: Engine,
        target: TableRef,
        classes: Sequence[str],
        names: Sequence[str],
        count: str | None = None,
    ) -> Measured:
        """See `Requirement.measure`."""
        row = engine.fetch(
            statement(
                "verify/k_anonymity",
                engine.dialect,
                {"asked": int(self.asked)},
                target=target,
                classes=list(classes),
                count=count,
            )
        )[0]
        classes_n, smallest, largest, _, _, failing = (int(str(cell)) for cell in row)
        return Measured(Fraction(smallest), failing, Sizes(classes_n, smallest, largest))
