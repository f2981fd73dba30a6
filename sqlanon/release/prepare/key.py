"""The key of a release: columns in the source, and the stage's column of their hash, which must identify rows."""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.errors import GuardError, PolicyError
from sqlanon.spec import ReleaseSpec
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch

PERSON = "person"
"""The stage's column of the key's hash."""
OWNER = "owner"
"""The stage's column of the person's hash, which is the same in every version."""


def key_columns(spec: ReleaseSpec, roles: Roles) -> list[str]:
    """The key's columns as the source spells them, in an order of their own: they are hashed in it.

    Raises:
        PolicyError: the source lacks a column.
    """
    spellings = {column.name.lower(): column.name for column in roles.relation.columns}
    spellings |= {column.name: column.name for column in roles.relation.columns}
    missing = [name for name in spec.key if name not in spellings and name.lower() not in spellings]
    if missing:
        raise PolicyError(f"{spec.name}: key: {roles.relation.ref} has no column {', '.join(missing)}")
    return sorted(spellings.get(name) or spellings[name.lower()] for name in spec.key)


def check_key(scratch: Scratch, spec: ReleaseSpec, stage: TableRef, *, needed: bool) -> None:
    """The key is unique and never NULL; ``needed``: the release cannot be without.

    Raises:
        GuardError: it is not.
    """
    refuse_key(spec, *count_repeated(scratch, stage, PERSON), needed=needed)


def refuse_key(spec: ReleaseSpec, nulls: int, repeats: int, *, needed: bool) -> None:
    """Raise `GuardError` where rows of the source have no key, or that of another row."""
    none = "1 row has none (NULL)" if nulls == 1 else f"{nulls} rows have none (NULL)"
    again = "1 row repeats one" if repeats == 1 else f"{repeats} rows repeat one"
    problems = [none] * bool(nulls) + [again] * bool(repeats)
    if problems:
        raise GuardError(
            f"{spec.name}: key {', '.join(spec.key)} does not identify rows: {', and '.join(problems)}; name columns "
            "that are together unique and not NULL, or "
            f"{'correct the source' if needed else 'leave key out'}"
        )


def count_repeated(scratch: Scratch, rows: TableRef, key: str) -> tuple[int, int]:
    """Number of rows without a key, and of rows minus that of keys; ``key``: the column of hashes of keys.

    Cost: a pass, and a second pass if it finds some.
    """
    nulls, alike = scratch.numbers("history/alike", rows=rows, key=key)
    if not alike:
        return nulls, 0
    nulls, repeats = scratch.numbers("history/key", rows=rows, key=key)
    return nulls, repeats
