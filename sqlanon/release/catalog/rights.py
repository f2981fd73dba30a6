"""Readers of a release: the roles that a policy names, if the engine knows roles."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, TableRef
from sqlanon.spec import ReleaseSpec

if TYPE_CHECKING:
    from sqlanon.release.catalog.entry import Entry


def drop_statistics(engine: Engine, tables: Sequence[TableRef]) -> None:
    """Keep values out of the planner's statistics of private tables.

    On an engine without rights, readers of the statistics can read the tables anyway.
    """
    if engine.rights:
        engine.rights.drop_statistics(tables)


def guard_reading(engine: Engine, table: TableRef) -> AbstractContextManager[None]:
    """Context manager: reading a private table runs no code of another role.

    Raises:
        DatabaseError: reading could run such code.
    """
    return engine.rights.reading(table) if engine.rights else nullcontext()


def grant_usage(engine: Engine, readers: Sequence[str], views: Sequence[TableRef]) -> None:
    """Grant USAGE on the views' schemas to the policy's readers, before the swap.

    Otherwise a session that changes rights on a schema would block readers of a view that the swap has locked.

    Raises:
        DatabaseError: another role owns a schema.
    """
    if engine.rights:
        for role in engine.rights.roles(readers):
            engine.rights.grant_usage(views, role)


def set_readers(engine: Engine, readers: Sequence[str], views: Sequence[TableRef], previous: Entry | None) -> None:
    """Grant SELECT on the views to the policy's readers, and revoke it from readers that the policy no longer names.

    Rights granted by hand stay.

    Args:
        engine: the database, in a transaction.
        readers: roles that the policy names.
        views: every view of the release.
        previous: the version with the readers to replace.

    Raises:
        DatabaseError: another role owns an object to grant.
    """
    rights = engine.rights
    if not rights:
        return
    before = tuple(previous.policy.get("readers") or ()) if previous else ()
    for role in rights.roles([name for name in before if name not in readers]):
        rights.revoke_select(views, role)
    for role in rights.roles(readers):
        rights.grant_select(views, role)


def reader_warnings(engine: Engine, spec: ReleaseSpec, source: TableRef | None) -> list[str]:
    """Warnings about the readers: names that are no roles, and roles that can read the source or private tables.

    ``source``: None if it is in another database.
    """
    rights = engine.rights
    if not rights:
        words = engine.capabilities.readers
        return [f"readers: {', '.join(spec.readers)}: {words}"] if spec.readers and words else []
    roles = rights.roles(spec.readers)
    unknown = [name for name in spec.readers if name not in roles]
    warnings = [f"readers: this database has no role {name}; nothing is granted to it" for name in unknown]
    every = rights.all_readers()
    if every:
        more = f" and {len(every) - 5} more" if len(every) > 5 else ""
        warnings.append(
            f"{', '.join(every[:5])}{more} can read every table, the source and the private ones too (superuser, or "
            "member of pg_read_all_data)"
        )
    members = rights.owner_members(PRIVATE_SCHEMA)
    if members:
        more = f" and {len(members) - 5} more" if len(members) > 5 else ""
        warnings.append(
            f"{', '.join(name for name, _ in members[:5])}{more} can read the private schema {PRIVATE_SCHEMA} with its "
            f"secrets: members of {members[0][1]}, who owns it; run as a role that nobody is a member of"
        )
    grantees = [name for name in rights.grantees(PRIVATE_SCHEMA) if name not in roles]
    warnings += [
        f"{name} was let into the private schema {PRIVATE_SCHEMA}; revoke all rights on it" for name in grantees
    ]
    for role in roles:
        if source and rights.can_use(role, source.schema or "") and rights.can_select(role, source):
            warnings.append(f"reader {role} can read the source {source} itself")
        if rights.can_use(role, PRIVATE_SCHEMA):
            warnings.append(f"reader {role} can see into the private schema {PRIVATE_SCHEMA}; revoke USAGE on it")
    return warnings
