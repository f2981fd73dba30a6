"""Requirements as policies know them: the key under `privacy`, the value, and where the code is.

Every list of requirements outside `sqlanon.privacy` is read from here: policies, catalog, differences between policies,
history, reports and docs. The dbt package, which needs no sqlanon, has a macro of each (`dbt/macros`); a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlanon.declared.records import ByColumn, Record
from sqlanon.declared.registry import Registry
from sqlanon.declared.values import Value
from sqlanon.lack import UNDECLARED, Able


@dataclass(frozen=True, slots=True)
class RequirementDeclaration:
    """A requirement as policies know it.

    Where it lacks ``joint`` or ``tally``, the value is a marker with the reason (`sqlanon.lack`).

    Attributes:
        name: the key under `privacy`, and the name in reports.
        about: the request, for the reference and for editors.
        code: ``module:class`` of a `sqlanon.privacy.base.Requirement`, or the class itself.
        value: kind of the key's value.
        at_most: a smaller value asks for more.
        sensitive: sensitive columns that it needs, at least.
        persons: identifiers without `accept_repeats` that it needs, at least, in a release with `rows_are: events`: it
            counts the persons that they name.
        joint: `joint` asks for it within every value of the other sensitive columns as well.
        tally: kernels can count it; else only methods that name it take it.
        monotone: the union of classes that each meet it meets it, whatever they hold and in whatever table they are;
            methods that merge classes, or that look for the finest of nested divisions, may rely on it. A function says
            it of a value.
        compares: classes are compared with all published rows, so that none may be left out: that would change the
            comparison.
        population: classes are compared with a table of the population, which the value names as ``population``; only
            methods that say so take it, and it may be asked for without k.
        nothing: the value that asks for nothing; None: there is none.
        of_persons: with `person` it is asked of persons as well, in every form; else it cannot be asked with it.
    """

    name: str
    about: str
    code: str | type[Any]
    value: Value
    at_most: bool = False
    sensitive: int = 1
    persons: int = 0
    joint: Able = UNDECLARED
    tally: Able = True
    monotone: bool | Callable[[Any], bool] = True
    compares: bool = False
    population: bool = False
    nothing: Any = None
    of_persons: bool = False

    def unites(self, level: object) -> bool:
        """Whether it is monotone where this is asked."""
        return self.monotone(level) if callable(self.monotone) else self.monotone

    def weaker(self, old: object, new: object) -> bool:
        """Whether ``new`` asks for less than ``old``; both as the catalog keeps them, None: not asked."""
        if old is None or new is None:
            return old is not None
        before, after = self.value.read(old), self.value.read(new)
        if isinstance(self.value, ByColumn):
            return self.value.weaker(before, after, self.at_most)
        if isinstance(self.value, Record):
            return self.value.weaker(before, after)
        return bool(after > before if self.at_most else after < before)


REQUIREMENTS: Registry[RequirementDeclaration] = Registry(
    "requirement",
    (
        "sqlanon.privacy.kanonymity.declaration:K",
        "sqlanon.privacy.diversity.declaration:L",
        "sqlanon.privacy.diversity.declaration:DISTINCT_L",
        "sqlanon.privacy.entropy.declaration:ENTROPY_L",
        "sqlanon.privacy.recursive.declaration:RECURSIVE_CL",
        "sqlanon.privacy.alpha.declaration:ALPHA",
        "sqlanon.privacy.closeness.declaration:T",
        "sqlanon.privacy.beta.declaration:BETA",
        "sqlanon.privacy.delta.declaration:DELTA_DISCLOSURE",
        "sqlanon.privacy.k_map.declaration:K_MAP",
        "sqlanon.privacy.delta_presence.declaration:DELTA_PRESENCE",
    ),
    "sqlanon.requirements",
)
"""Every requirement by the key; `k` first, so that counts of rows are measured first."""
