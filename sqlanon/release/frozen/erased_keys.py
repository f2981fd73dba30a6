"""The list of erased keys.

It knows the key and secret of its hashes, and whether a version outside of lineages is without the keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from sqlanon.engines.base import Bind
from sqlanon.engines.rows import count
from sqlanon.errors import GuardError
from sqlanon.release.catalog.lineage import Lineage, number_of, of_other_secret
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release.prepare.staged_source import StagedSource
from sqlanon.results.figures import format_rows
from sqlanon.shell import command
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch


def list_mark(state: ReleaseState, secret: str | None) -> str:
    """Mark of the inputs of a key's hash.

    They are the secret, and the key's columns with their types, in the order of the hash.
    """
    return hashlib.sha256(f"{secret}/erased/{json.dumps(_key_of_now(state))}".encode()).hexdigest()


def _key_of_now(state: ReleaseState) -> list[tuple[str, str]]:
    return _key_columns(state.spec.key, [(column.name, column.shown_type) for column in state.source.columns])


def _key_columns(key: Iterable[str], columns: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The columns of a key with their types, in the order in which they are hashed."""
    kinds = dict(columns)
    spelling = {name.lower(): name for name in kinds} | {name: name for name in kinds}
    names = {spelling.get(name) or spelling.get(name.lower()) for name in key}
    return [(name.lower(), kind) for name, kind in sorted(kinds.items()) if name in names]


def lineages_by_others(state: ReleaseState) -> frozenset[int]:
    """Numbers of earlier lineages with another key, type of the key or secret.

    Nobody knows which of their rows have a given key.
    """
    numbers = set()
    for entry in state.versions:
        key = _key_columns(entry.policy.get("key") or (), entry.source_columns or ())
        if entry.frozen and (of_other_secret(entry, state.secret) or key != _key_of_now(state)):
            numbers.add(number_of(entry) or 0)
    return frozenset(numbers)


def count_unrecognized(state: ReleaseState, secret: str | None) -> int | None:
    """Number of erased keys listed with another key, type of the key or secret, so that no run recognizes them.

    None if the list is gone.
    """
    erased = Lineage.of(state.engine, state.spec.name, 1).erased
    if state.exists(erased):
        binds: dict[str, Bind] = {"mark": list_mark(state, secret)}
        query = statement("frozen/listed_apart", state.engine.dialect, binds, erased=erased)
        return count(state.engine, query)
    return None if any(entry.frozen and entry.status in SHOWN for entry in state.versions) else 0


def secret_is_lost(state: ReleaseState) -> bool:
    """Whether the newest lineage's hashes were made with another secret than the present secret."""
    shown = [entry for entry in state.versions if entry.frozen and entry.status in SHOWN]
    return bool(shown) and of_other_secret(shown[-1], state.secret)


def check_listed(state: ReleaseState) -> None:
    """Check that the list of erased keys, which every lineage has, exists, and that the listed keys are recognized.

    Raises:
        GuardError: somebody dropped the list, or the key, its type or the secret has changed.
    """
    unrecognized = count_unrecognized(state, state.secret)
    if unrecognized == 0:
        return
    erased = Lineage.of(state.engine, state.spec.name, 1).erased
    how = "is gone, the list of erased keys"
    if unrecognized:
        how = (
            f"lists {unrecognized} erased keys by another key, type of the key or secret (in _sqlanon.secrets) than "
            "that of now"
        )
    again = command("erase", state.spec.name, options=["--key-file", "FILE", "--yes"])
    back = "" if state.spec.refresh.frozen else "with refresh: {mode: frozen} in the policy "
    raise GuardError(
        f"{state.spec.name}: {erased} {how}: no version can be made that is certain to be without them; {back}{again}, "
        f"with all keys that were ever erased, {'lists them by those of now' if unrecognized else 'makes it anew'}"
    )


def check_left_out(scratch: Scratch, state: ReleaseState, staged: StagedSource) -> None:
    """Check that no row of the source has an erased key, as a version outside of lineages publishes every row.

    Raises:
        GuardError: a row has an erased key, or that is unknown.
    """
    erased = Lineage.of(state.engine, state.spec.name, 1).erased
    if state.exists(erased) and not staged.keyed:
        if scratch.count("frozen/listed", erased=erased):
            raise GuardError(
                f"{state.spec.name}: keys of this release were erased, and without key nobody knows which rows of the "
                "source have them: name the key, or go back to refresh: {mode: frozen}"
            )
        return
    check_listed(state)
    if not state.exists(erased):
        return
    erased_rows = scratch.count("frozen/erased_rows", stage=staged.stage, erased=erased)
    if erased_rows:
        raise GuardError(
            f"{state.spec.name}: keys of {format_rows(erased_rows)} of the source were erased, and mode: full "
            "publishes all rows: delete them in the source, or go back to refresh: {mode: frozen}, which leaves them "
            "out"
        )
