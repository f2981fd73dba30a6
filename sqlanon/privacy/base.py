"""The shape of a requirement."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from sqlanon.column_spec import ColumnSpec
from sqlanon.declared import REQUIREMENTS
from sqlanon.engines.base import Engine, TableRef
from sqlanon.results import RequirementResult
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.tally import Tally


@dataclass(frozen=True, slots=True)
class Shape:
    """Facts about a requirement for fast paths, in integers.

    Attributes:
        kind: ``rows`` (at least p of them), ``frequency`` (most frequent * p <= rows * q), ``distinct`` (>= p values),
            or ``other``: nothing is known, and only the tally and the SQL decide.
        p, q: the bound.
        value: index of the sensitive column, or -1.
        within: indices of the sensitive columns whose every combination is checked by itself.
    """

    kind: Literal["rows", "frequency", "distinct", "other"]
    p: int = 1
    q: int = 1
    value: int = -1
    within: tuple[int, ...] = ()

    @property
    def trivial(self) -> bool:
        """Whether every row alone meets it, and so every class."""
        return self.kind != "other" and self.p <= self.q


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a sensitive column, by code.

    Attributes:
        texts: each as text; None for NULL.
        ranks: the place of each by value, NULL first.
        ordered: whether the column's type gives its values an order that means something: numbers, dates, booleans.
    """

    texts: Sequence[str | None]
    ranks: Sequence[int]
    ordered: bool


@dataclass(frozen=True, slots=True)
class Coded:
    """Rows as a tally is made of them.

    Attributes:
        rows: how many.
        sensitive: per sensitive column the codes of these rows, int32[rows].
        codes: per sensitive column how many codes the whole table has.
        whole: rows of each code of a sensitive column in the whole table, int64[codes] each; empty unless a requirement
            says that it compares with them.
        persons: per counted identifier the codes of these rows, int32[rows]; a code is a person. Empty unless a
            requirement says that it counts persons.
        person_codes: per counted identifier how many codes the whole table has.
        values: meaning of the codes of each sensitive column; empty unless a requirement says that it reads values.
    """

    rows: int
    sensitive: Sequence[Ints]
    codes: Sequence[int]
    whole: Sequence[Longs] = ()
    persons: Sequence[Ints] = ()
    person_codes: Sequence[int] = ()
    values: Sequence[Values] = ()


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows in groups, in the database.

    Attributes:
        table: has the columns ``groups``, whose every combination is a group, and the sensitive columns.
        groups: the columns; none: all rows are one group.
        names: of the sensitive columns, in the policy's order.
        count: a column with the number of rows that each row represents; None: one.
        whole: a table of all rows of the release, one row each, of which these may be a part; None where rows are only
            measured.
        whole_names: of the sensitive columns there.
        persons: columns with a number of each person, one per counted identifier: never NULL, and equal where the
            persons are. Empty unless a requirement says that it counts persons.
        counts: where the sensitive columns are codes, as `Coded.whole`; empty where they are hashes of the values.
        values: the same as `Coded.values`. A requirement that reads values has to do without in histories, which keep
            hashes: it then refuses whatever it would refuse of some values.
        of_source: the rows of ``table`` with NULL as group are those of the source, which `measure` compares the others
            with; there is one column of groups then, a number.
    """

    table: TableRef
    groups: Sequence[str]
    names: Sequence[str]
    count: str | None = None
    whole: TableRef | None = None
    whole_names: Sequence[str] = ()
    persons: Sequence[str] = ()
    counts: Sequence[Longs] = ()
    values: Sequence[Values] = ()
    of_source: bool = False

    def parameters(
        self, failing: TableRef, value: int | None = None, within: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Parameters of the templates of `Requirement.below`: the rows, and the sensitive columns by place."""
        of_value = {} if value is None else {"value": self.names[value]}
        of_others = {} if within is None else {"within": [self.names[i] for i in within]}
        return (
            {"made": failing, "rows": self.table, "groups": list(self.groups), "count": self.count}
            | of_value
            | of_others
        )


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many classes a table has, and the rows of the smallest and the largest."""

    classes: int
    smallest: int
    largest: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Level reached by a table: the requirement's value over the worst class, and the number of failing classes.

    ``sizes`` where the query counted them along the way (k-anonymity's does).
    """

    reached: Fraction
    failing: int
    sizes: Sizes | None = None


class Requirement(ABC):
    """Requirement for every class. Each is one file: a subclass, and a declaration in `sqlanon.declared.requirements`.

    It has three forms of the same predicate: `tally` for kernels, `below` for set-oriented SQL, and `measure`, the
    query of its own by which feasibility, verify and audit judge a table. `measure` shares nothing with the others.

    Attributes:
        name: as it is declared, and as policies and reports name it.
        compares: classes are compared with the values of the whole table: `Coded.whole` is filled.
        counts_persons: it counts persons, who may have several rows each: `Coded.persons` and `Grouped.persons` are
            filled, and `measure` gets the columns of persons. No release has such columns: verify measures it over the
            rows of the run in the groups that were published, an audit over the private link table, which has no
            sensitive columns.
        across: it is about where the rows of a person are, and not about each class by itself: methods, which then
            divide persons and not rows, and histories do without it, and only `measure` decides.
        afterwards: methods do without it, as kernels do not count it: the groups that are published are judged by
            `below`, and united where they fail (`sqlanon.release.divide.merge_failing_groups`).
        of_population: it compares the rows of a class with those of a population in its cell:
            `sqlanon.privacy.population.OfPopulation`.
        asked: the value that was asked.
        column: the sensitive column, or the identifier, that it is about, or None.
    """

    __slots__ = ()

    name: ClassVar[str]
    compares: ClassVar[bool] = False
    counts_persons: ClassVar[bool] = False
    across: ClassVar[bool] = False
    afterwards: ClassVar[bool] = False
    of_population: ClassVar[bool] = False
    asked: Fraction
    column: str | None

    @classmethod
    @abstractmethod
    def from_policy(cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]) -> Sequence[Self]:
        """The requirements of this kind in a policy; `PrivacySpec.value` gives the value of a key.

        ``sensitive`` and ``persons`` name the sensitive columns and the counted identifiers, in the order of `Coded`
        and `Grouped`.
        """

    @property
    def at_most(self) -> bool:
        """Whether the asked value is an upper bound, not a lower one."""
        return REQUIREMENTS[self.name].at_most

    @property
    def monotone(self) -> bool:
        """Whether a union of classes meets the requirement if each class does.

        A subclass decides where the declaration leaves that to the policy's value.
        """
        return REQUIREMENTS[self.name].monotone is True

    @property
    def shape(self) -> Shape:
        """Facts for fast paths; none by default."""
        return Shape("other")

    @abstractmethod
    def tally(self, coded: Coded) -> Tally:
        """The requirement over these rows, for kernels. Not called where the shape is ``rows``."""

    @abstractmethod
    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """Make the scratch table ``failing`` of the groups that fail the requirement.

        It has the columns of the groups, one row each.
        """

    @abstractmethod
    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """Measure a table by a query of its own, with groups of rows as classes.

        Without columns of groups all rows are one class.
        """

    def largest(self, engine: Engine, rows: Grouped) -> Fraction:
        """The most (the least, where it is an upper bound) that any release of rows may ask for.

        By default the level of all rows as one class: no release reaches more of a monotone one, and for others
        methods begin with that class.

        Args:
            engine: where the rows are.
            rows: without groups.
        """
        return self.measure(engine, rows).reached

    @property
    def joint(self) -> bool:
        """Whether it holds within every combination of the other sensitive columns."""
        return bool(getattr(self, "within", ()))

    @property
    def compares_source(self) -> bool:
        """Whether classes are compared with all rows of the source, also where the release leaves some of them out.

        Then a release alone does not show whether it holds: `sqlanon.release.verify.source_shares` measures it.
        """
        return bool(getattr(self, "of_source", False))

    @property
    def reads_values(self) -> bool:
        """Whether values themselves count, and not only their equality: `Coded.values` is filled."""
        return False

    def of_column(self, spec: ColumnSpec) -> Requirement:
        """The same with the policy's settings of the column, such as a hierarchy."""
        return self

    def in_best_form(self, values: int) -> Requirement:
        """An equal requirement, of a column of so many values, that methods solve better; by default itself."""
        return self

    def refusal(self, values: Values) -> str | None:
        """Why a column with these values cannot have the requirement, and a remedy; for models that read values."""
        return None

    def reaches(self, value: Fraction) -> bool:
        """Whether a value is as good as the one that was asked."""
        return value <= self.asked if self.at_most else value >= self.asked

    def result(self, measured: Measured) -> RequirementResult:
        """Level asked and level reached, for reports."""
        satisfied = measured.failing == 0 and self.reaches(measured.reached)
        return RequirementResult(
            self.name, self.column, as_number(self.asked), as_number(measured.reached), satisfied, self.joint
        )


def as_number(value: Fraction) -> float:
    """A fraction as JSON has it: an integer where it is one."""
    return int(value) if value.denominator == 1 else float(value)


def round_reachable(requirement: Requirement, value: Fraction) -> float:
    """A value rounded so that a policy may ask for the printed number: down, or up for an upper bound."""
    parts = value * 1000
    return (math.ceil(parts) if requirement.at_most else math.floor(parts)) / 1000


def shapes_beyond_rows(requirements: Sequence[Requirement]) -> list[Shape]:
    """The shapes of those that ask for more than a number of rows, and that a single row would not meet."""
    return [requirement.shape for requirement in beyond_rows(requirements)]


def beyond_rows(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Those that ask for more of the rows of a class than a number of them, and that a single row would not meet.

    Of bounds on the most frequent value of one column, which several requirements can ask, only the strictest is there:
    whoever meets it meets the others.
    """
    of_table = [requirement for requirement in requirements if not requirement.of_population]
    shaped = [
        requirement for requirement in of_table if requirement.shape.kind != "rows" and not requirement.shape.trivial
    ]
    strictest: dict[tuple[int, tuple[int, ...]], Requirement] = {}
    for requirement in shaped:
        shape = requirement.shape
        if shape.kind == "frequency":
            strongest = strictest.setdefault((shape.value, shape.within), requirement).shape
            if shape.p * strongest.q > strongest.p * shape.q:
                strictest[shape.value, shape.within] = requirement
    return [
        requirement
        for requirement in shaped
        if requirement.shape.kind != "frequency" or requirement in strictest.values()
    ]


def least_rows(requirements: Sequence[Requirement]) -> int:
    """k: the fewest rows a class may have."""
    return max([1] + [requirement.shape.p for requirement in requirements if requirement.shape.kind == "rows"])
