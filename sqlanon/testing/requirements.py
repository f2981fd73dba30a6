"""`check_requirement`: a test of extensions.

The forms of a requirement must agree with its definition, and releases and verification must follow them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlanon.database import Database, connect
from sqlanon.declared import METHODS, REQUIREMENTS, MethodDeclaration, RequirementDeclaration
from sqlanon.declared.cost import Cost
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PrivacyViolation
from sqlanon.lack import UNDECLARED
from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.privacy.base import Coded, Grouped, Requirement, Values
from sqlanon.privacy.requirements import class_of
from sqlanon.spec import Execution, PrivacySpec
from sqlanon.table.scratch import Scratch
from sqlanon.testing.monotone import counterexamples
from sqlanon.testing.registration import add_declaration
from sqlanon.testing.tables import MARK, VISITS, WHO, published_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs

Meets = Callable[[Any, Sequence[Hashable], Sequence[Hashable]], bool]
"""The definition, by brute force.

Its arguments are the value in the policy, as the declaration reads it, the values of a class and those of the whole
table.
"""

WAYS: tuple[tuple[str, Execution], ...] = (("tree", "kernel"), ("mondrian", "kernel"), ("mondrian", "pushdown"))
"""Methods and executions that divide a table by the tally, and by the groups in SQL."""


def check_requirement(
    declared: RequirementDeclaration, asked: Sequence[object], meets: Meets, *, url: str = "duckdb:///:memory:"
) -> None:
    """Check a requirement of one sensitive column, or one that counts persons, against its definition.

    - The tally, the groups that fail as SQL, and the query of verification agree with the definition, on random
      classes.
    - A requirement that is declared as monotone holds for the unions of all small classes.
    - Releases by a kernel and by SQL have classes that meet the definition; a method that forgets it is refused by
      verification, and nothing is published.

    Args:
        declared: the requirement; it need not be installed.
        asked: values as policies write them; of each, some random classes meet it and others do not.
        meets: the definition. Of a requirement that counts persons it gets the persons of a class in place of values.
        url: the database to check it in; tables of new names are made there, and released.

    Raises:
        AssertionError: one of these does not hold; the text names it and the level.
        SqlanonError: a release that the declaration allows failed.

    Cost: some seconds, and the time to compile its kernels.
    """
    with add_declaration(REQUIREMENTS, declared), connect(url) as db:
        for requirement_text in asked:
            value = declared.value.read(requirement_text)
            assert not declared.weaker(requirement_text, requirement_text), (
                f"{declared.name}: {requirement_text} is weaker than itself"
            )
            of_value = RequirementCheck(declared, value, meets)
            for seed in range(20):
                check_tally(of_value, seed)
            check_groups(db, of_value)
            _check_releases(db, declared, requirement_text, of_value)
        for requirement_text, pairs in counterexamples(db, declared, asked).items():
            monotone = declared.unites(declared.value.read(requirement_text))
            assert not (monotone and pairs), (
                f"{declared.name} {requirement_text}: declared as monotone, and {pairs} unions fail"
            )


@dataclass(frozen=True, slots=True)
class RequirementCheck:
    """A requirement with a level, and its definition."""

    declared: RequirementDeclaration
    value: object
    meets: Meets

    @property
    def of_persons(self) -> bool:
        """Whether it counts persons."""
        return self.declared.persons > 0

    def requirement(self) -> Requirement:
        """Of one sensitive column and one identifier."""
        spec = PrivacySpec.of({self.declared.name: self.value})
        (requirement,) = class_of(self.declared).from_policy(spec, ("s",), ("p",))
        return requirement

    def holds(self, values: Sequence[Hashable], everything: Sequence[Hashable]) -> bool:
        """Whether a class meets it."""
        return self.meets(self.value, values, everything)

    def where(self, what: str) -> str:
        """First words of a message."""
        return f"{self.declared.name} {self.value}: {what}"


def check_tally(checked: RequirementCheck, seed: int, requirement: Requirement | None = None) -> None:
    """Kernels find the classes that meet it: of random rows, those before and after each of some places.

    Args:
        checked: the requirement.
        seed: of the rows.
        requirement: the requirement where the policy says more of it than its value.
    """
    import numpy as np

    from sqlanon.kernels.requirements import demands_of, make_counters, mark_allowed, satisfied

    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    distinct = sorted({int(v) for v in rng.integers(1, 5, n)})
    codes = rng.integers(0, len(distinct), n).astype(np.int32)
    codes[: len(distinct)] = np.arange(len(distinct))[:n]
    distinct = distinct[: int(codes.max()) + 1]
    coded = _encode(codes, distinct, persons=checked.of_persons)
    demands = demands_of(1, [(requirement or checked.requirement()).tally(coded)])
    counters, rows = make_counters(demands, n), np.arange(n, dtype=np.int32)
    order = (np.argsort(codes, kind="stable") if seed % 2 else rng.permutation(n)).astype(np.int64)
    ends = np.unique(np.append(rng.integers(1, n + 1, 4), n)).astype(np.int64)
    allowed = np.zeros(len(ends), np.bool_)
    everything = [distinct[code] for code in codes]

    def meets(positions: Longs) -> bool:
        return checked.holds([everything[position] for position in positions], everything)

    mark_allowed(demands, rows, order, ends, len(ends), counters, allowed)
    divided = [bool(a) for a in allowed[:-1]]
    expected = [meets(order[:end]) and meets(order[end:]) for end in ends[:-1]]
    assert divided == expected, checked.where("the tally finds other divisions than the definition")
    assert satisfied(demands, rows, order, counters) == meets(order), checked.where("the tally of all rows")
    assert not counters.counts.any(), checked.where("clearing the tally leaves counts")


def _encode(codes: Ints, values_present: Sequence[int], *, persons: bool) -> Coded:
    import numpy as np

    whole = np.bincount(codes).astype(np.int64)
    values = Values([str(v) for v in values_present], range(len(values_present)), ordered=True)
    counted_columns = ([codes], [len(values_present)]) if persons else ([], [])
    return Coded(len(codes), [codes], [len(values_present)], [whole], *counted_columns, values=[values])


def check_groups(db: Database, checked: RequirementCheck, requirement: Requirement | None = None) -> None:
    """Random classes: failing groups by SQL, measured levels and the definition agree; see `check_tally`."""
    import numpy as np

    rng = random.Random(5)  # noqa: S311 - not a secret
    rows = [(rng.randrange(2, 14), rng.choices([1, 2, 3, 4], [4, 3, 3, 2])[0]) for _ in range(150)]
    # Class 0 has each value as often as the table nearly has, class 1 one value: few requirements hold in both.
    rows += [(0, value) for value in (1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4)] + [(1, 4)] * 4
    everything = [value for _, value in rows]
    expected = {group for group in range(14) if not checked.holds([v for g, v in rows if g == group], everything)}
    requirement = requirement or checked.requirement()
    distinct = sorted(set(everything))
    classes = np.array([group for group, _ in rows], np.int32)
    codes = np.array([distinct.index(value) for _, value in rows], np.int32)
    coded = _encode(codes, distinct, persons=checked.of_persons)
    with Scratch(db.engine) as scratch:
        table, below = scratch.table("coded"), scratch.table("below")
        db.engine.load_arrays(table, {"class": classes, "s": codes, "p": codes})
        grouped = Grouped(table, ("class",), ("s",), None, table, ("s",), ("p",))
        requirement.below(scratch, below, replace(grouped, counts=coded.whole, values=coded.values))
        failing = {read_integer(row[0]) for row in scratch.fetch("blocks/rows", table=below, columns=["class"])}
        assert failing == expected, checked.where("the groups that fail in SQL are not those of the definition")
        scratch.drop(below)
        # As histories ask, which keep hashes: whatever fails is found, perhaps more.
        requirement.below(scratch, below, grouped)
        unknown = {read_integer(row[0]) for row in scratch.fetch("blocks/rows", table=below, columns=["class"])}
        assert unknown >= expected, checked.where("without counts and values fewer groups fail")
        small = scratch.table("named")
        db.engine.load_rows(
            small, [("class", "INTEGER"), ("s", "INTEGER"), ("p", "INTEGER")], [(g, v, v) for g, v in rows]
        )
        measured = requirement.measure(db.engine, Grouped(small, ("class",), ("s",), persons=("p",)))
        assert measured.failing == len(expected), checked.where("verification counts other classes than the definition")
    assert 0 < len(expected) < 14, checked.where("no random class meets it, or all do; ask for something else")


def _check_releases(db: Database, declared: RequirementDeclaration, level: object, checked: RequirementCheck) -> None:
    """Releases of one table meet it; one by a method that forgets it is refused."""
    source = VISITS.create(db)
    values_by_mark = VISITS.values(WHO if checked.of_persons else "s")
    arguments: dict[str, Any] = {**VISITS.asked, "requirements": {declared.name: level}, "name": source}
    if checked.of_persons:
        arguments |= {"rows_are": "events", "persons": "ignored", "identifiers": WHO}
    for method, execution in WAYS:
        where = checked.where(f"a release by {method}, {execution}")
        release = db.anonymize(source, **arguments, method=method, execution=execution, allow_weaker=True)
        everything = list(values_by_mark.values())
        for marks in _classes(db, source):
            assert checked.holds([values_by_mark[mark] for mark in marks], everything), (
                f"{where}: a class does not meet it"
            )
        (result,) = (requirement for requirement in release.report.requirements if requirement.name == declared.name)
        assert result.satisfied, f"{where}: the report says that it is not satisfied"
    alike: dict[tuple[object, object], list[Hashable]] = defaultdict(list)
    first, second = (VISITS.values(name) for name in ("q", "w"))
    for mark, value in values_by_mark.items():
        alike[first[mark], second[mark]].append(value)
    if all(checked.holds(values, list(values_by_mark.values())) for values in alike.values()):
        # rows of equal quasi values are one class to readers, and each of these meets it: there is nothing to forget
        return
    with _forgetful():
        refused = None
        try:
            db.anonymize(source, **{**arguments, "k": 1, "method": FORGETFUL}, allow_weaker=True)
        except PrivacyViolation as violation:
            refused = str(violation)
        assert refused is not None, checked.where("verification accepts classes of one row")
        assert declared.name in refused, checked.where(f"verification names another requirement: {refused}")


def _classes(db: Database, name: str) -> Iterator[list[int]]:
    """The rows of each class of a release, by `MARK`."""
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in published_rows(db, name):
        shown = tuple(str(value) for name, value in row.items() if name not in (MARK, "s"))
        groups[shown].append(read_integer(row[MARK]))
    return iter(groups.values())


FORGETFUL = "forgetful"
"""A method that makes a class of each row, whatever is asked."""


class ForgetfulCode:
    """The code of `FORGETFUL`."""

    def refusal(self, problem: Problem) -> str | None:
        """None: it takes everything."""
        return None

    def assign(self, context: Context) -> Assignment:
        """A class for each row."""
        from sqlanon.testing.assignment import rows_by_id

        rows = [
            (read_integer(rid), index)
            for index, (rid,) in enumerate(rows_by_id(context.scratch, context.encoded.work, ["rid"]))
        ]
        table = context.scratch.table("assign")
        context.scratch.engine.load_rows(table, [("rid", "integer"), ("class", "integer")], rows)
        return Assignment(table, "kernel")


@contextmanager
def _forgetful() -> Iterator[None]:
    declared = MethodDeclaration(FORGETFUL, "A class for each row.", ForgetfulCode, Cost(0.0, 0.0), pushdown=UNDECLARED)
    with add_declaration(METHODS, declared):
        yield
