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
from sqlanon.errors import PolicyError
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


def lake_place(engine: Engine, spec: ReleaseSpec, suffixes: Sequence[str]) -> str | None:
    """Place of a release's lake table; None without one.

    Args:
        engine: the database.
        spec: the release.
        suffixes: what the names of its tables add to the name of the first.

    Raises:
        UnsupportedError: the engine writes none.
        PolicyError: a place has rows of another program, or is in the folder of the source.
    """
    if spec.publish_lake is None:
        return None
    require(engine, TO_LAKES, spec.name)
    assert engine.lake is not None
    place, secret = engine.lake.place(spec.publish_lake), secret_of(engine, spec.name)
    engine.lake.check_apart(place, spec.source)
    for suffix in suffixes:
        check_own(spec.name, f"{place}{suffix}", secret, engine.lake.facts(f"{place}{suffix}"))
    return place


def secret_of(engine: Engine, release: str) -> str | None:
    """Key of the release's hashes; None before the first version."""
    catalog = Catalog(engine)
    return catalog.secret_in(engine.look_up(catalog.tables), release)


def is_committed(engine: Engine, entry: Entry) -> bool:
    """Whether a version was committed at any time, also before later commits.

    Of tables that are published together the first one decides.
    """
    assert engine.lake is not None
    together = entry.policy.get("together")
    release = together["tables"][0] if together else entry.release
    secret = secret_of(engine, release)
    commits = engine.lake.facts(entry.lake.get("first", entry.lake["place"]))
    return any(is_known(facts, secret, release) and facts.get("file") == entry.lake["file"] for facts in commits)


def is_shown(engine: Engine, entry: Entry, place: str | None = None) -> bool:
    """Whether a table shows this version: nobody changed the table since; ``place``: None: the first table's."""
    assert engine.lake is not None
    commits = engine.lake.facts(place or entry.lake["place"])
    ours = bool(commits) and is_known(commits[0], secret_of(engine, entry.release), entry.release)
    return ours and commits[0].get("file") == entry.lake["file"]
