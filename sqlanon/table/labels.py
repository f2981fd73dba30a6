"""Security labels of PostgreSQL Anonymizer on the columns of a table.

They are declarations of the table's owner, for `sqlanon init`.
"""

from __future__ import annotations

from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import require
from sqlanon.errors import PolicyError
from sqlanon.sqltext import statement


def labels_of(engine: Engine, source: str) -> dict[str, list[str]]:
    """The labels of the columns that have any, of the providers ``anon`` and ``k_anonymity``.

    Args:
        engine: the session.
        source: the table, or the view.

    Raises:
        PolicyError: no column has a label.
        UnsupportedError: this database has no security labels.
    """
    require(engine, "--from-labels")
    ref = engine.relation(source).ref
    query = statement("table/labels", engine.dialect, {"schema": ref.schema or "", "name": ref.name})
    labels: dict[str, list[str]] = {}
    for column, _, label in engine.fetch(query):
        labels.setdefault(str(column), []).append(str(label))
    if not labels:
        raise PolicyError(
            f"--from-labels: no column of {ref} has a security label of PostgreSQL Anonymizer (providers anon and "
            "k_anonymity); leave the option out"
        )
    return labels
