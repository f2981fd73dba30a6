"""The table of stored attacks: figures of a version, added and never changed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlanon.engines.base import Bind, Engine
from sqlanon.engines.rows import read_integer
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.results.kept_attacks import KeptAttacks
from sqlanon.sqltext import statement

_MOST = 1_000_000
"""Maximum number of listed attacks."""


def list_attacks(engine: Engine, release: str | None = None) -> tuple[KeptAttacks, ...]:
    """Stored attacks on a release, or on all releases, oldest first."""
    return tuple(attack for _, attack in _list(engine, release))


def _list(engine: Engine, release: str | None) -> Sequence[tuple[int, KeptAttacks]]:
    table = private_table(engine, "attacks")
    if table not in engine.look_up([table]).relations:
        return ()
    binds: dict[str, Bind] = {} if release is None else {"release": release}
    query = statement("attacks/list", engine.dialect, binds, run=None, attacks=table, release=release is not None)
    with guard_reading(engine, table):
        rows = engine.fetch(query, max_rows=_MOST)
    return [
        (read_integer(number), KeptAttacks(str(name), read_integer(version), str(made_at), **json.loads(str(figures))))
        for number, name, version, made_at, figures in rows
    ]


def keep_attacks(engine: Engine, attacks: KeptAttacks) -> None:
    """Store the figures of attacks with the attacked version."""
    catalog, table = Catalog(engine), private_table(engine, "attacks")
    figures = {key: value for key, value in attacks.to_dict().items() if key not in ("release", "version", "made_at")}
    with engine.lock("attacks", wait=True), engine.publishing():
        catalog.guard()
        engine.execute(statement("attacks/create", engine.dialect, attacks=table))
        binds: dict[str, Bind] = {
            "number": max((number for number, _ in _list(engine, None)), default=0) + 1,
            "release": attacks.release,
            "version": attacks.version,
            "made_at": attacks.made_at,
            "figures": json.dumps(figures, sort_keys=True),
        }
        engine.execute(statement("attacks/insert", engine.dialect, binds, attacks=table))
