"""The requests of a policy to a method, and why the two may not go together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlanon.declared.method_options import Given
from sqlanon.spec import Execution

Goal = Literal["k", "l"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a policy and a method do not fit.

    Attributes:
        what: the problem.
        allowed: the advice: an allowed value.
        option: the option of the method that it is about; empty: the method itself.
    """

    what: str
    allowed: str
    option: str = ""

    def __str__(self) -> str:
        return f"{self.what}; {self.allowed}"


@dataclass(frozen=True, slots=True)
class Request:
    """The requests of a policy to a method, as far as they are known before a database is read.

    Attributes:
        method: the method's name, with ``options`` as they are used: defaults included.
        k: rows in a class, at least.
        l, distinct_l: diversity of each sensitive column; None: not asked.
        more: names of further requirements that are asked.
        loose: those that are not monotone where this is asked.
        population: those that compare classes with a population.
        joint: it also holds within every value of the other sensitive columns.
        maximize: the requirement to make as large as a bound on the loss allows; None: none. The others are then the
            least accepted.
        quasi, sensitive: how many columns have the role.
        named: the names of the sensitive columns.
        suppression: the share of the rows that may be suppressed; None: the policy has none.
        left_out: they are not published.
        refine: the classes are refined afterwards.
        own_boxes: every row may have a box of its own, in place of a class.
        persons: k and l also hold over persons.
        whole: all rows of a person are in the same class.
        judged: names of requirements over persons that no method counts: groups that fail are united after it.
        frozen: versions are a lineage: which rows a method refuses must not depend on their sensitive values.
    """

    method: str
    options: Mapping[str, Given]
    k: int = 1
    l: Fraction | None = None  # noqa: E741 - the papers' symbol
    distinct_l: int | None = None
    joint: bool = False
    more: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    population: tuple[str, ...] = ()
    maximize: Goal | None = None
    quasi: int = 1
    sensitive: int = 0
    named: tuple[str, ...] = ()
    execution: Execution = "auto"
    format: str = "ranges"
    suppression: Fraction | None = None
    left_out: bool = False
    refine: bool = False
    own_boxes: bool = False
    persons: bool = False
    whole: bool = False
    judged: tuple[str, ...] = ()
    frozen: bool = False

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements that a class of a single row would not meet."""
        least_of = {"k": self.k, "l": self.l, "distinct_l": self.distinct_l}
        names = tuple(name for name, least in least_of.items() if least is not None and least > 1)
        return (*names, *self.more, *((PERSONS,) if self.persons else ()))

    @property
    def diverse(self) -> bool:
        """Whether the classes have to meet more than a number of rows."""
        return bool(set(self.requirements) - {"k"})

    @property
    def l_alone(self) -> bool:
        """Whether frequency l of a single sensitive column is all the diversity that is asked."""
        return set(self.requirements) - {"k"} == {"l"} and self.sensitive == 1


PERSONS = "persons"
"""Name in messages of requirements over persons, which belong to the key `person` and not to `privacy`."""


Rule = Callable[[Request], Refusal | None]
"""A combination that a method does not take; None where it is none."""
