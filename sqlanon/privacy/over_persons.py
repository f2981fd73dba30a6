"""Models of rows over persons (docs/persons.md).

In a class every person weighs one, split over the person's rows in it.

The share of a value is the sum over the persons of the part of their rows that have it, by the number of persons. The
shares of the table, with which t, beta and delta compare, are those of all persons, who weigh one each, split over all
their rows. Methods do not count these weights: they divide by the model of rows, or of persons by the value
of most of their rows, and the published groups are judged (`OverPersons.below`), and united where they fail.
`OverPersons.measure`, by which a release is verified, has a query of its own and compares integers; `below`
compares doubles, and fractions where these do not decide.

Of classes that share no person (`persons: whole`) a union is a mean of its parts, weighed by their persons: a model
that is monotone over rows is so over persons. With `persons: rows` no model is, as a person of two
classes weighs two in them, and one in the union.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Coded, Grouped, Measured, Values
from sqlanon.privacy.counts import GroupShares, OfCounts, count_persons
from sqlanon.privacy.persons import _OfPersons
from sqlanon.privacy.reference import fresh_table
from sqlanon.privacy.values import of_numbers
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.kernels.tally import Tally

_NEAR = 1e-9
"""Error of doubles, at most."""


@dataclass(frozen=True, slots=True)
class OverPersons(_OfPersons):
    """A model of rows, over persons.

    Attributes:
        model: the requirement of rows.
        place: of the identifier that counts persons.
    """

    afterwards: ClassVar[bool] = True
    unites: ClassVar[bool] = False
    model: OfCounts
    place: int

    @property
    def name(self) -> str:  # type: ignore[override] # one class for every model
        """As reports name it."""
        return f"{self.model.name} of persons"

    @property
    def asked(self) -> Fraction:  # type: ignore[override]
        """The requirement of rows."""
        return self.model.asked

    @property
    def column(self) -> str:  # type: ignore[override]
        """The sensitive column."""
        return self.model.column

    @property
    def at_most(self) -> bool:
        return self.model.at_most

    @property
    def joint(self) -> bool:
        return bool(self.model.within)

    @property
    def reads_values(self) -> bool:
        return self.model.reads_values

    def refusal(self, values: Values) -> str | None:
        return self.model.refusal(values)

    def reaches(self, value: Fraction) -> bool:
        return self.model.reaches(value)

    def tally(self, coded: Coded) -> Tally:
        """Kernels do not count it: see `Requirement.afterwards`."""
        raise NotImplementedError

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        value, by = rows.names[self.model.value], [*rows.groups, *(rows.names[i] for i in self.model.within)]
        counts = count_persons(engine, rows.table, by, value, rows.persons[self.place], rows.count)
        return self.model.judge_within(counts, engine, rows.table, value)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`.

        Cost: groupings as those of `measure`, and a few numbers for each value of a group in memory.

        Of ordered and hierarchical distances one number for each value, or node, of the table in every group.
        """
        import numpy as np

        model, numbering = self.model, None
        if model.reads_values and rows.values:
            numbering = of_numbers(rows.values[model.value], rows.counts[model.value])
        elif model.reads_values:
            model = model.of_hashes()
        parts, whole, numbers = (fresh_table(scratch, word) for word in ("parts", "whole_parts", "failing"))
        below = fresh_table(scratch, "within") if model.within else failing
        value, groups = model.value, [*rows.groups, *(rows.names[i] for i in model.within)]
        shared: dict[str, object] = {"person": rows.persons[self.place]}
        scratch.execute(
            "privacy/person_parts",
            None,
            parts=parts,
            rows=rows.table,
            groups=groups,
            value=rows.names[value],
            count=rows.count,
            **shared,
        )
        scratch.execute(
            "privacy/person_parts",
            None,
            parts=whole,
            rows=rows.whole,
            groups=[],
            value=rows.whole_names[value],
            count=None,
            **shared,
        )
        numbered = scratch.sql("privacy/numbered_parts", parts=parts, whole=whole, groups=groups)
        place, number, many, n = (
            array.astype(np.int64, copy=False) for array in scratch.fetch_arrays(numbered, ["int64"] * 4)
        )
        places = find_failing(model, place, number, many, n, numbering)
        scratch.engine.load_arrays(numbers, {"place": places})
        scratch.execute("privacy/below_numbered", made=below, parts=parts, failing=numbers, groups=groups)
        if below != failing:
            scratch.execute("privacy/below_within", made=failing, below=below, groups=list(rows.groups))
        for table in (parts, whole, numbers, *((below,) if below != failing else ())):
            scratch.drop(table)


def find_failing(
    model: OfCounts, place: Longs, value: Longs, many: Longs, n: Longs, values: Values | None = None
) -> Longs:
    """The groups that do not meet a model over persons.

    Args:
        model: the requirement.
        place: int64[m], the group; 0: the whole table.
        value: int64[m], the number of the value.
        many: int64[m], rows that each of some persons has in the group.
        n: int64[m], rows with the value, of all these persons.
        values: meaning of the numbers of values, where the model reads values.
    """
    import numpy as np

    groups, codes = int(place.max(initial=0)) + 1, int(value.max(initial=-1)) + 1
    key, numbers = np.unique(place * codes + value, return_inverse=True)
    weight = np.bincount(numbers.reshape(-1), n / many, len(key))
    group, code = key // max(codes, 1), key % max(codes, 1)
    share = weight / np.bincount(group, weight, groups)[group]
    of_table = group == 0
    reference = np.zeros(codes)
    reference[code[of_table]] = share[of_table]
    exact: Mapping[int, Fraction] = {}
    if model.compares:
        exact = _shares(value, many, n, np.flatnonzero(place == 0))
    inside = model.inside(GroupShares(group[~of_table], code[~of_table], share[~of_table], reference, exact, values))
    there = np.unique(group[~of_table])
    fails = inside[there] < 0
    near = np.flatnonzero(np.abs(inside[there]) < _NEAR)
    if len(near):
        order = np.argsort(place, kind="stable")
        first = np.searchsorted(place[order], there[near])
        past = np.searchsorted(place[order], there[near], side="right")
        for i, begin, end in zip(near, first, past, strict=True):
            fails[i] = not model.holds(_shares(value, many, n, order[begin:end]), exact, values)
    places: Longs = there[fails]
    return places


def _shares(value: Longs, many: Longs, n: Longs, rows: Longs) -> dict[int, Fraction]:
    """The share of each value of one group, exactly."""
    weights: dict[int, Fraction] = {}
    for i in rows:
        weights[int(value[i])] = weights.get(int(value[i]), Fraction(0)) + Fraction(int(n[i]), int(many[i]))
    persons = sum(weights.values())
    return {code: weight / persons for code, weight in weights.items()}
