"""Facts in the commits of a published lake table: release, version, file, and a keyed hash of them.

The key is the release's secret, as of files (`sqlanon.release.catalog.file_marker`): it reveals facts of a commit that
another program wrote.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence

from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import require
from sqlanon.engines.names import TO_LAKES
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.spec import ReleaseSpec

Facts = Mapping[str, str]


def make_facts(secret: str, release: str, version: int, file: str) -> dict[str, str]:
    """The facts of the commit of a version; ``file``: the added file, empty if the commit withdraws the version."""
    payload = json.dumps(["lake", release, version, file])
    mark = hmac.new(secret.encode(), payload.encode(), "sha256").hexdigest()
    return {"release": release, "version": str(version), "file": file, "mark": mark}


def is_known(facts: Facts, secret: str | None, release: str) -> bool:
    """Whether a commit is of this release."""
    version = facts.get("version", "")
    if secret is None or not version.isdigit():
        return False
    expected = make_facts(secret, release, int(version), facts.get("file", ""))
    return hmac.compare_digest(expected["mark"].encode(), facts.get("mark", "").encode())


def check_own(release: str, place: str, secret: str | None, commits: Sequence[Facts]) -> None:
    """Check that a table may be replaced: it has no rows yet, or the rows that this release published.

    Raises:
        PolicyError: another program wrote it last.
    """
    if commits and not is_known(commits[0], secret, release):
        raise PolicyError(
            f"{release}: {place} has rows that this release did not publish, or that were changed since; none "
            "of them is replaced: move the table away, or choose another place"
        )


def lake_place(engine: Engine, spec: ReleaseSpec, *, pair: bool) -> str | None:
    """Place of a release's lake table; None without one.

    Raises:
        UnsupportedError: the engine writes none, or the release has more than one table of plain rows.
        PolicyError: the place has rows of another program.
    """
    if spec.publish_lake is None:
        return None
    require(engine, TO_LAKES, spec.name)
    assert engine.lake is not None
    many = (
        "format anatomy" if pair else "tables" if spec.together else "refresh: {mode: frozen}" if _lasts(spec) else ""
    )
    if many:
        raise UnsupportedError(f"{spec.name}: {TO_LAKES}: not with {many}: its versions are not one table of rows")
    place = engine.lake.place(spec.publish_lake)
    check_own(spec.name, place, secret_of(engine, spec.name), engine.lake.facts(place))
    return place


def _lasts(spec: ReleaseSpec) -> bool:
    return spec.refresh.mode != "full"


def secret_of(engine: Engine, release: str) -> str | None:
    """Key of the release's hashes; None before the first version."""
    catalog = Catalog(engine)
    return catalog.secret_in(engine.look_up(catalog.tables), release)


def is_committed(engine: Engine, entry: Entry) -> bool:
    """Whether the file of a version was committed at any time, also before later commits."""
    return any(facts.get("file") == entry.lake["file"] for facts in _own_commits(engine, entry))


def is_shown(engine: Engine, entry: Entry) -> bool:
    """Whether the table shows this version: nobody changed the table since."""
    assert engine.lake is not None
    commits = engine.lake.facts(entry.lake["place"])
    ours = bool(commits) and is_known(commits[0], secret_of(engine, entry.release), entry.release)
    return ours and commits[0].get("file") == entry.lake["file"]


def _own_commits(engine: Engine, entry: Entry) -> list[Facts]:
    assert engine.lake is not None
    secret = secret_of(engine, entry.release)
    return [facts for facts in engine.lake.facts(entry.lake["place"]) if is_known(facts, secret, entry.release)]
