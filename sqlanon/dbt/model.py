"""A release as a Python model of dbt-duckdb: dbt writes the table, sqlanon makes and verifies the rows for it."""

from __future__ import annotations

import logging
from typing import Any, Unpack, cast

from sqlanon import policy
from sqlanon.database import Database
from sqlanon.declared import FORMATS
from sqlanon.declared.keys import ARGUMENTS
from sqlanon.declared.options import FileOptions
from sqlanon.engines import guest
from sqlanon.engines.base import Session, TableRef
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.progress import SilentProgress
from sqlanon.release.divide.classes import Machine

log = logging.getLogger("sqlanon.dbt")

SOURCE = TableRef("main", "source")
VIEW = TableRef("release", "released")

_NOT_HERE = {
    "source": "the relation is the source",
    "publish": "dbt publishes the model",
    "publish_file": "dbt publishes the model",
    "publish_to": "dbt publishes the model",
    **dict.fromkeys(
        ("context", "every", "keep", "key", "max_failing", "review"),
        "a model of dbt has no versions; see sqlanon dbt run",
    ),
}


def release(relation: object, session: Session, **options: Unpack[FileOptions]) -> object:
    """Anonymize a relation inside a Python model of dbt-duckdb, and return the model's result.

    The relation is copied into a private in-memory database of dbt's own DuckDB, released and verified there, and the
    release is handed back; the copy is gone when this returns. dbt writes the table, so there is no catalog, no
    version and no view of sqlanon's: for those, give a model an ``anonymize`` block and run ``sqlanon dbt run``.

    Args:
        relation: the relation of ``dbt.ref`` or ``dbt.source``, filtered or not.
        session: the model's argument ``session``.
        options: as for `sqlanon.Database.anonymize`, without publish, publish_file, and options about versions;
            ``name`` is the model's, for messages.

    Returns:
        A DuckDB relation.

    Raises:
        SqlanonError: no release; the model fails. dbt prints whole tracebacks, so the error carries no driver's
            message, which could quote a value.

    Example:
        >>> import duckdb
        >>> session = duckdb.connect()
        >>> people = session.query("SELECT i // 5 AS age, 'flu' AS diagnosis FROM range(20) AS r(i)")
        >>> released = release(people, session, quasi="age", sensitive="diagnosis", k=5)
        >>> released.columns, len(released)
        (['age_lo', 'age_hi', 'diagnosis'], 20)
    """
    reported: SqlanonError | None = None
    arguments = cast("dict[str, Any]", options)
    name = arguments.pop("name", "model")
    try:
        return _release(relation, session, name, arguments)
    except SqlanonError as error:
        reported = error
    except Exception as error:  # noqa: BLE001 - its text may quote a cell value
        reported = SqlanonError(f"{name}: unexpected {type(error).__name__}: a defect of sqlanon")
    reported.__cause__ = reported.__context__ = None
    raise reported.with_traceback(None)


def _release(relation: object, session: Session, name: str, arguments: dict[str, Any]) -> object:
    for key, reason in _NOT_HERE.items():
        if key in arguments:
            raise PolicyError(f"{name}: {key}: {reason}; leave it out")
    names = [argument.name for argument in ARGUMENTS]
    unknown = [key for key in arguments if key not in names]
    if unknown or "quasi" not in arguments:
        what = f"no argument {', '.join(unknown)}" if unknown else "quasi is missing"
        raise PolicyError(
            f"{name}: {what}; the arguments are: {', '.join(key for key in names if key not in _NOT_HERE)}"
        )
    spec = policy.release(
        source=f"{SOURCE.schema}.{SOURCE.name}", publish=f"{VIEW.schema}.{VIEW.name}", name=name, **arguments
    )
    if FORMATS[spec.format.kind].paired:
        raise PolicyError(
            f"{name}: format {spec.format.kind} publishes two tables, and a model is one; use sqlanon dbt run"
        )
    with guest(session) as inside:
        inside.take(relation, SOURCE)
        report = Database(inside.engine, SilentProgress(), Machine.here()).run(spec)
        log.info(
            "%s: %d rows in %d classes of %d to %d, GCP %.4f",
            name,
            report.rows,
            report.classes,
            report.min_class,
            report.max_class,
            report.loss.gcp,
        )
        for warning in report.warnings:
            log.warning("%s: %s", name, warning)
        return inside.give(VIEW)
