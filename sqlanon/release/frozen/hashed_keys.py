"""Hashes of a list of keys that a person gives.

Every text must be exactly the value that the database reads from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Column, TableRef
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.release.frozen.exact_casts import says
from sqlanon.release.prepare.key import key_columns
from sqlanon.spec import ReleaseSpec
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch


def hash_listed_keys(
    scratch: Scratch,
    spec: ReleaseSpec,
    roles: Roles,
    names: Sequence[str],
    keys: Sequence[Sequence[str]],
    secret: str,
) -> TableRef:
    """A scratch table of the hashes of keys, as the stage has them.

    Args:
        scratch: the run.
        spec: the release.
        roles: the source's columns.
        names: the columns of the list.
        keys: the texts of the list.
        secret: key of the release's hashes.

    Raises:
        PolicyError: the columns are not those of the key, or a text is not, or not exactly, a value of the column.
    """
    columns = key_columns(spec, roles)
    spelled = {name.lower(): index for index, name in enumerate(names)}
    if sorted(spelled) != sorted(name.lower() for name in columns) or len(names) != len(columns):
        raise PolicyError(
            f"{spec.name}: the list of keys has the columns {', '.join(names) or 'none'}; the key is "
            f"{', '.join(spec.key)}"
        )
    if not keys:
        raise PolicyError(f"{spec.name}: the list of keys is empty")
    order = [spelled[name.lower()] for name in columns]
    texts, typed, hashed = (
        scratch.table("read_keys"),
        scratch.table("typed_keys"),
        scratch.table("hashed_keys"),
    )
    text = scratch.engine.capabilities.text_type
    scratch.engine.load_rows(
        texts, [(name, text) for name in columns], [tuple(row[index] for index in order) for row in keys]
    )
    by_name = {column.name: column for column in roles.relation.columns}
    types: list[dict[str, object]] = [{"name": name, "type": by_name[name].type} for name in columns]
    try:
        printed = scratch.fetch("frozen/printed", max_rows=len(keys), read=texts, columns=types)
        scratch.execute("frozen/typed", typed=typed, read=texts, columns=types)
    except DatabaseError as error:
        kinds = ", ".join(f"{name} {by_name[name].shown_type}" for name in columns)
        raise PolicyError(f"{spec.name}: a key in the list is no value of its column ({kinds})") from error
    _check_texts(spec, [by_name[name] for name in columns], printed)
    scratch.execute(
        "table/stage",
        {"secret": secret},
        stage=hashed,
        source=typed,
        columns=[],
        dense=False,
        numbers=None,
        link=[],
        key=columns,
        also=[],
        tokens=[],
        persons=[],
        owner=None,
    )
    return hashed


def _check_texts(spec: ReleaseSpec, columns: Sequence[Column], printed: Sequence[Sequence[object]]) -> None:
    """Check that every text of the list equals the value read from it: else the class of another key would be erased.

    Raises:
        PolicyError: some texts differ; the text has their number for each column.
    """
    problems = []
    for i, column in enumerate(columns):
        wrong = sum(
            not says(column, str(row[2 * i]), None if row[2 * i + 1] is None else str(row[2 * i + 1]))
            for row in printed
        )
        if wrong:
            problems.append(
                f"{spec.name}: in {wrong} of {len(printed)} keys of the list the text of {column.name} is not the "
                f"value that the database reads from it as {column.shown_type}, and another key would be erased; write "
                "values as the database prints them, dates and times as in ISO 8601"
            )
    if problems:
        raise PolicyError(problems)
