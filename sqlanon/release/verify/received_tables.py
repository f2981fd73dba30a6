"""Verify tables that were sent to another database: there, by its own SQL, before readers have them.

Independent of how they were sent: both databases compute a hash of all rows, and the requirements are measured on the
written table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.column_spec import ColumnSpec
from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.engines.portable import PortableColumn
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Grouping
from sqlanon.privacy.base import as_number
from sqlanon.privacy.population import of_rows
from sqlanon.privacy.requirements import make_requirements, read_stored
from sqlanon.sqltext import statement

_NOT_OF_CLASS = ("sensitive", "insensitive", "pseudonym")
"""Roles of columns that do not come from a class."""


def verify_equal(
    source: Engine, origin: TableRef, target: Engine, copy: TableRef, columns: Sequence[PortableColumn]
) -> tuple[int, str]:
    """Check that a table in another database has the same rows; gives their number and a hash of all of them.

    Cost: a scan of both tables.

    Raises:
        PrivacyViolation: the columns, the number of rows or their hashes differ.
    """
    names = [column.name for column in target.look_up([copy]).columns(copy)]
    if names != [column.name for column in columns]:
        raise PrivacyViolation("the table in the other database has other columns; nothing was published there")
    asked_columns = [column.parameters() for column in columns]
    marks = [
        engine.fetch(statement("sent/fingerprint", engine.dialect, target=table, columns=asked_columns))[0]
        for engine, table in ((source, origin), (target, copy))
    ]
    if [str(cell) for cell in marks[0]] != [str(cell) for cell in marks[1]]:
        raise PrivacyViolation(
            "the rows in the other database differ from what was verified; nothing was published there"
        )
    return read_integer(marks[0][0]), str(marks[0][1])


def verify_promises(
    target: Engine, copy: Relation, policy: Mapping[str, Any], settings: Sequence[ColumnSpec] | None
) -> None:
    """Measure the requirements of a policy in the catalog on a table in another database.

    Requirements over persons, against a population and against rows that are left out need private tables, which are
    not there: they hold as the rows are equal to those that were verified.

    Args:
        target: the database.
        copy: the table of rows.
        policy: the version's, as the catalog has it.
        settings: the policy's columns, with distances of values; None: they are unknown, and requirements on a column
            with distances are not measured.

    Raises:
        PrivacyViolation: a requirement does not hold.
    """
    roles = {column["name"]: column["role"] for column in policy["columns"]}
    names = [column.name for column in copy.columns]
    sensitive = tuple(name for name in names if roles.get(name) == "sensitive")
    classes = tuple(name for name in names if roles.get(name) not in _NOT_OF_CLASS)
    grouping = Grouping(copy.ref, classes)
    privacy = replace(read_stored(policy["privacy"]), of_persons=False)
    distant = {column["name"] for column in policy["columns"] if column.get("hierarchy") or column.get("ordered")}
    for requirement in of_rows(make_requirements(privacy, sensitive, (), settings or ())):
        if (settings is None and requirement.column in distant) or requirement.compares_source:
            continue
        result = requirement.result(grouping.measure(target, requirement, sensitive))
        if not result.satisfied:
            of = f" of {requirement.column}" if requirement.column else ""
            raise PrivacyViolation(
                f"{requirement.name}{of} in the other place: asked {as_number(requirement.asked):g}, reached "
                f"{result.reached:g}; nothing was published there"
            )
