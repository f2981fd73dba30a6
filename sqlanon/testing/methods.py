"""`check_method`: rules for every method, whatever its classes are."""

from __future__ import annotations

import inspect
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlanon.database import Database, connect
from sqlanon.declared import METHODS, MethodDeclaration
from sqlanon.errors import PolicyError
from sqlanon.lack import Lack
from sqlanon.methods.method import import_method
from sqlanon.policy import release
from sqlanon.spec import ReleaseSpec
from sqlanon.testing.assignment import assign_classes, encoded_table
from sqlanon.testing.registration import add_declaration
from sqlanon.testing.tables import MARK, TABLES, WHO, SampleTable, published_rows

POPULATION: Mapping[str, object] = {"k": None, "k_map": {"k": 2, "population": "register"}}
"""Policy parts of a requirement over a population."""
ABILITIES: Mapping[str, Mapping[str, object]] = {
    "pushdown": {"execution": "pushdown"},
    "maximizes": {"k": None, "maximize": "k", "max_loss": 0.5, "at_least": {"k": 2}},
    "suppresses": {"suppression": {"limit": "1/10", "rows": "starred"}},
    "persons": {"rows_are": "events", "identifiers": WHO, "person": WHO, "persons": "rows"},
    "whole": {"rows_are": "events", "identifiers": WHO, "person": WHO, "persons": "whole"},
    "population": POPULATION,
    "formats": {"format": "anatomy", "k": None, "l": 2},
    "requirements": {"alpha": "1/2"},
}
"""A policy for each attribute of a declaration: an ability that is promised, or declared as lacking."""


def check_method(
    declared: MethodDeclaration, *, asked: Mapping[str, object] | None = None, url: str = "duckdb:///:memory:"
) -> None:
    """Check a method against its declaration, and its assignments against the rules for every method.

    - The code takes the options that are declared, and their defaults are allowed.
    - Each ability of the declaration is taken by a policy that asks for it, or is refused with the reason of its
      marker.
    - On small tables with NULLs and ties, in each execution that is declared: each row has one class; a run publishes
      them, and verification finds every requirement satisfied and every row covered; the result does not depend on the
      order of the source, nor on the execution; the same seed gives the same.

    Args:
        declared: the method; it need not be installed.
        asked: arguments of `Database.anonymize` that any release by the method needs, such as ``{"l": 2}``.
        url: the database to check it in; tables of new names are made there, and released.

    Raises:
        AssertionError: one of these does not hold; the text names it and the case.
        SqlanonError: a release that the declaration allows failed.

    Cost: some seconds, and the time to compile the method's kernels.
    """
    needed = dict(asked or {})
    with add_declaration(METHODS, declared):
        check_options(declared)
        for ability in ABILITIES:
            check_ability(declared, ability, needed)
        with connect(url) as db:
            checked = [table.name for table in TABLES if _check_table(db, declared, table, needed)]
    assert checked, f"{declared.name}: its declaration refuses every table; pass what a release by it needs as asked"


def check_options(declared: MethodDeclaration) -> None:
    """The code takes the options that are declared, and their defaults are allowed."""
    algorithm = import_method(declared)
    parameters, options = (
        sorted(inspect.signature(algorithm).parameters),
        sorted(option.name for option in declared.options),
    )
    assert parameters == options, f"{declared.name}: the code takes {parameters}, and {options} are declared"
    algorithm(**declared.values({}))
    for option in declared.options:
        assert option.read(str(option.default)) == option.default, f"{declared.name}: the default of {option.name}"
        assert option.about.endswith((".", ")")), f"{declared.name}: {option.name} is described by no sentence"


def lack_of(declared: MethodDeclaration, ability: str) -> Lack | None:
    """The marker of an ability; None: the method has it."""
    if ability == "formats":
        if declared.formats is not None:
            return declared.other_formats
        # Without l there is no release of exact quasi values.
        return None if declared.requirements is None or "l" in declared.requirements else declared.other_requirements
    if ability == "requirements":
        return None if declared.requirements is None else declared.other_requirements
    lack = getattr(declared, "persons" if ability == "whole" and not declared.persons else ability)
    return lack if isinstance(lack, Lack) else None


def check_ability(declared: MethodDeclaration, ability: str, arguments: Mapping[str, object]) -> None:
    """A policy that asks for an ability is taken, or refused with the reason of the marker.

    Args:
        declared: a method of the registry.
        ability: one of `ABILITIES`.
        arguments: see `check_method`.
    """
    lack = lack_of(declared, ability)
    refused = None
    try:
        _spec("t", ["q", "r"], {"sensitive": "s", "k": 2, "method": declared.name, **ABILITIES[ability], **arguments})
    except PolicyError as error:
        refused = str(error)
    if lack is None:
        assert refused is None, f"{declared.name}: {ability} is declared, and refused: {refused}"
    elif refused is not None:
        assert lack.why in refused, f"{declared.name}: {ability}: the error has not the declared reason: {refused}"
    else:
        raise AssertionError(f"{declared.name}: {ability} is declared as lacking, and taken")


def _spec(source: str, quasi: object, options: Mapping[str, object]) -> ReleaseSpec:
    arguments: dict[str, Any] = {"quasi": quasi, **options}
    return release(source=source, **{name: value for name, value in arguments.items() if value is not None})


def _check_table(db: Database, declared: MethodDeclaration, table: SampleTable, options: Mapping[str, object]) -> bool:
    """Whether the method takes the requirements of a table; if so, it is checked with them."""
    arguments = {**table.asked, **options, "method": declared.name}
    quasi = arguments.pop("quasi")
    try:
        _spec("t", quasi, arguments)
    except PolicyError:
        return False
    shuffled = random.Random(1).sample(range(len(table.rows)), len(table.rows))  # noqa: S311 - not a secret
    published: dict[str, Counter[tuple[str, ...]]] = {}
    for order in (None, shuffled):
        source = table.create(db, order)
        for execution in declared.executions:
            where = f"{declared.name}, {execution}, table {table.name}{', in another order' if order else ''}"
            spec = _spec(source, quasi, {**arguments, "execution": execution, "name": source})
            if not declared.own_boxes:
                _check_assignment(db, spec, execution, len(table.rows), where)
            published[where] = _count_published(db, spec, len(table.rows), where)
            if len(published) == 1:
                again = _count_published(db, spec, len(table.rows), where)
                assert again == published[where], f"{where}: the same seed publishes something else"
    (first, rows), *other_places = published.items()
    for where, other_rows in other_places:
        assert other_rows == rows or declared.own_boxes, f"{where}: publishes something else than {first}"
    return True


def _check_assignment(db: Database, spec: ReleaseSpec, execution: Any, rows: int, where: str) -> None:  # noqa: ANN401
    with encoded_table(db, spec) as (scratch, ready, encoded):
        of_row, reported = assign_classes(scratch, ready, encoded, spec, execution)
        assert len(of_row) == rows, f"{where}: {len(of_row)} of {rows} rows have a class"
        assert reported == execution, f"{where}: it reports the execution {reported}"


def _count_published(db: Database, spec: ReleaseSpec, rows: int, where: str) -> Counter[tuple[str, ...]]:
    report = db.run(spec, full=True)
    assert report.verified
    assert report.rows == rows, f"{where}: {report.rows} of {rows} rows are published"
    failing = [requirement.name for requirement in report.requirements if not requirement.satisfied]
    assert not failing, f"{where}: {', '.join(failing)} are not satisfied"
    shown = [{name: value for name, value in row.items() if name != MARK} for row in published_rows(db, spec.name)]
    return Counter(tuple(map(str, row.values())) for row in shown)
