"""Row-level security: a role that sees a part of the source must not release that part as if it were all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from sqlanon.declared.combinations import list_populations
from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import DatabaseError, GuardError
from sqlanon.spec import ReleaseSpec


@contextmanager
def source_snapshot(
    engine: Engine, sources: Sequence[tuple[ReleaseSpec, TableRef]], *, planned: bool = False
) -> Iterator[None]:
    """One state of the sources; the database refuses to read a part of them only.

    A policy may accept a part.

    Args:
        engine: the session.
        sources: the releases, each with the source.
        planned: no rows are released, so that a part will do; `warn_of_hidden_rows` says so.

    Raises:
        GuardError: row-level security hides rows from this role; the text names the tables.
    """
    strict = [(spec, source) for spec, source in sources if spec.row_security is None and not planned]
    try:
        if len(strict) < len(sources):  # one transaction has one setting: sources that it does not refuse are looked up
            for spec, source in strict:
                refuse_hidden(engine, spec, source)
        with engine.snapshot(whole=len(strict) == len(sources)):
            yield
    except DatabaseError as error:
        for spec, source in strict:
            try:
                refuse_hidden(engine, spec, source)
            except GuardError as hidden:
                raise hidden from error
        raise


def refuse_hidden(engine: Engine, spec: ReleaseSpec, source: TableRef) -> None:
    """Stop a release of a part.

    Raises:
        GuardError: row-level security hides rows from this role.
    """
    hiding_tables: list[str] = []
    with suppress(DatabaseError):  # the caller must hear of the first failure
        hiding_tables = _find_hiding(engine, spec, source)
    if hiding_tables:
        raise GuardError(
            f"{spec.name}: {_warn(hiding_tables)}, and a part would be released as if it were all: run as a role "
            "that sees every row (the owner of the tables where the policies are not forced on it, or one with "
            "BYPASSRLS). If the rows that this role sees are what shall be released, row_security: applied confirms it"
        )


def warn_of_hidden_rows(engine: Engine, spec: ReleaseSpec, source: TableRef) -> tuple[str, ...]:
    """A warning where row-level security hides rows of a source from this role."""
    hiding_tables = _find_hiding(engine, spec, source)
    if not hiding_tables:
        return ()
    if spec.row_security is None:
        return (f"{_warn(hiding_tables)}: counts here are of the rows that it sees, and run stops",)
    return (
        (
            f"{_warn(hiding_tables)}: what is released are the rows that it sees, and k, l and shares hold among these "
            "(row_security: applied)"
        ),
    )


def warn_of_partial_measure(engine: Engine, table: str) -> tuple[str, ...]:
    """A warning if row-level security hides rows of a table that is only measured.

    There is none for a release in another file.
    """
    if engine.rights is None:
        return ()
    table_of_name = engine.look_up([], [table]).named.get(table)
    hiding_tables = [] if table_of_name is None else engine.rights.list_filtered_tables([table_of_name.ref])
    if not hiding_tables:
        return ()
    return (
        (
            f"row-level security of {', '.join(hiding_tables)} may hide rows from this role: what is measured are "
            "the rows that it sees"
        ),
    )


def _warn(tables: Sequence[str]) -> str:
    return f"row-level security of {', '.join(tables)} may hide rows of the source from this role"


def _find_hiding(engine: Engine, spec: ReleaseSpec, source: TableRef) -> list[str]:
    if engine.rights is None:
        return []
    beside = [engine.relation(name).ref for name in dict.fromkeys(list_populations(spec).values())]
    return engine.rights.list_filtered_tables([source, *beside])
