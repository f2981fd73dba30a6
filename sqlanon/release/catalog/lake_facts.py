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
from sqlanon.engines.portable import PortableColumn
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import list_pointings, second_of
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement

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
            f"{release}: {place} has rows that this release did not publish, or was changed since (rows, columns, "
            "constraints or features); none of its rows is replaced: move the table away, or choose another place"
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
    """Whether readers of a table have this version: nobody changed the rows since.

    A commit's facts are texts, which whoever writes the log can copy into a commit with other rows, and so are the
    names of operations such as a compaction: what counts are the files of the table, which are this version's file, or
    have the same rows as the table in the database.

    Args:
        engine: the database.
        entry: the version.
        place: of the lake table; None: the first one's.

    Cost: reads the log; a scan of both tables, if the lake's has other files.
    """
    assert engine.lake is not None
    place = place or entry.lake["place"]
    commits = engine.lake.facts(place)
    ours = bool(commits) and is_known(commits[0], secret_of(engine, entry.release), entry.release)
    if not ours or commits[0].get("file") != entry.lake["file"]:
        return False
    return list(engine.lake.list_files(place)) == [entry.lake["file"]] or has_same_rows(engine, entry, place)


def has_same_rows(engine: Engine, entry: Entry, place: str | None = None) -> bool:
    """Whether a lake table has the rows of a version's table in the database.

    Cost: a scan of both.
    """
    place = place or entry.lake["place"]
    reader, transfer = engine.lake_engine, engine.transfer
    assert reader is not None
    assert transfer is not None
    assert entry.view is not None
    suffix = place.removeprefix(entry.lake["place"])
    pointings = list_pointings(engine, entry.view, entry.physical, second=second_of(entry))
    table = next(item.at for item in pointings if item.view.name == f"{entry.view.name}{suffix}")
    columns = []
    for column in engine.look_up([table]).columns(table):
        kind = transfer.read_type(column)
        if kind is None:
            return False
        columns.append(PortableColumn(column.name, kind).parameters())
    try:
        published = reader.relation(place)
    except UnsupportedError:
        return False  # a table of ours has no such features
    if not columns or {column.name for column in published.columns} != {str(column["name"]) for column in columns}:
        return False
    hashes = [
        database.fetch(statement("sent/fingerprint", database.dialect, target=target, columns=columns))[0]
        for database, target in ((engine, table), (reader, published.ref))
    ]
    return [str(cell) for cell in hashes[0]] == [str(cell) for cell in hashes[1]]
