"""The marker of a published DuckDB file: content, not a path, decides whether a release published a file.

The metadata in the file have a keyed hash of the release, the version and the random token. The key is the release's
secret, which the private schema of the source's database holds and no reader sees: entries in the catalog of another
database do not make a file a published one.
"""

from __future__ import annotations

import hmac
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import DatabaseError, LockedError, PolicyError
from sqlanon.private_folder import PrivateFolder
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.metadata import COLUMNS, find_shown_version, metadata_name
from sqlanon.sqltext import statement

KEY = "marker"
_FACTS = [name for name, _ in COLUMNS].index("published")
_MAGIC = b"DUCK"
_MAGIC_AT = 8


def mark_rows(
    rows: Iterable[tuple[object, ...]], secret: str, release: str, version: int
) -> Iterator[tuple[object, ...]]:
    """The metadata rows of a file, with the marker."""
    for row in rows:
        if row[0]:
            yield row
            continue
        facts = json.loads(str(row[_FACTS]))
        facts[KEY] = _marker(secret, release, version, facts.get("token"))
        yield (*row[:_FACTS], json.dumps(facts), *row[_FACTS + 1 :])


def _marker(secret: str, release: str, version: object, token: object) -> str:
    payload = json.dumps(["file", release, version, token])
    return hmac.new(secret.encode(), payload.encode(), "sha256").hexdigest()


def _version_in_file(engine: Engine, entry: Entry) -> int | None:
    """The version in a file of a release, with the marker of this database's catalog.

    None without such a marker.

    Raises:
        LockedError: another process has it open for writing.
    """
    assert entry.file is not None
    secret = _secret(engine, entry.release)
    if secret is None or not Path(entry.file).is_file():
        return None
    try:
        return _version(engine, entry.file, entry.release, (entry.view_schema, entry.view_name), secret)
    except LockedError:
        raise
    except DatabaseError:
        return None


def version_in(engine: Engine, entry: Entry) -> int | None:
    """The version that a file or a metadata view shows now; None if it is not of this release."""
    if entry.file:
        return _version_in_file(engine, entry)
    return find_shown_version(engine, entry.release, entry.view) if entry.view else None


def check_ours(engine: Engine, release: str, file: str) -> None:
    """Check that the place of a file is empty, or has a file that this release published.

    Args:
        engine: the source's database.
        release: the release.
        file: the place.

    Raises:
        PolicyError: another object is there.

    Cost: a copy of the file if another process has it open, as nobody else can open it then.
    """
    path = Path(file)
    if not path.exists() and not path.is_symlink():
        return
    places = [(schema, name) for other_file, schema, name in Catalog(engine).files(release) if other_file == file]
    secret = _secret(engine, release)
    if secret is not None and path.is_file() and any(_holds(engine, path, release, place, secret) for place in places):
        return
    raise PolicyError(
        f"{release}: {file} exists and is not a file that this release published: it does not have the marker of one. "
        "Move it away or choose another name"
    )


def _holds(engine: Engine, path: Path, release: str, place: tuple[str | None, str], secret: str) -> bool:
    try:
        return _version(engine, str(path), release, place, secret) is not None
    except DatabaseError:
        pass
    try:
        with path.open("rb") as file:
            if file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] != _MAGIC:
                return False
        with PrivateFolder(path) as folder:
            copy = folder.path / path.name
            shutil.copyfile(path, copy)
            return _version(engine, str(copy), release, place, secret) is not None
    except (DatabaseError, OSError):
        return False


def check_marked(engine: Engine, entry: Entry, metadata: TableRef) -> None:
    """Check that the stored ``metadata`` of a version have a marker, by which a file made in a rollback is known again.

    Raises:
        PolicyError: an earlier sqlanon made the metadata.
    """
    secret = _secret(engine, entry.release)
    if secret is None or _read_version(engine, metadata, entry.release, secret) != entry.version:
        raise PolicyError(
            f"{entry.release}: version {entry.version} has no marker by which its file would be known again, as an "
            "earlier sqlanon made it, or the secret of the release is another now: run the release again instead"
        )


def _version(engine: Engine, file: str, release: str, place: tuple[str | None, str | None], secret: str) -> int | None:
    schema, name = place
    if engine.second_file is None or not name:
        return None
    with engine.second_file.attach(file, read_only=True) as database:
        table = TableRef(schema, metadata_name(name), database)
        return _read_version(engine, table, release, secret)


def _read_version(engine: Engine, metadata: TableRef, release: str, secret: str) -> int | None:
    rows = engine.fetch(statement("catalog/version", engine.dialect, {"column": ""}, metadata=metadata))
    try:
        facts = json.loads(str(rows[0][0]))
        version, marker = facts["version"], str(facts[KEY])
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    expected = _marker(secret, release, version, facts.get("token"))
    return int(version) if hmac.compare_digest(marker.encode(), expected.encode()) else None


def _secret(engine: Engine, release: str) -> str | None:
    catalog = Catalog(engine)
    return catalog.secret_in(engine.look_up(catalog.tables), release)
