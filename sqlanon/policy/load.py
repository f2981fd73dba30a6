"""Reading a whole policy file into the frozen spec. Checks of a release belong in `checks`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, cast

from sqlanon.declared.kinds import name_parts
from sqlanon.declared.records import BROKEN, Path
from sqlanon.lake_names import lake_of
from sqlanon.policy import checks, noisy, statistics, tables
from sqlanon.policy.checks import default_view
from sqlanon.policy.document import Document, read
from sqlanon.policy.problems import Problems
from sqlanon.policy.sections import POLICY, read_release
from sqlanon.spec import PolicySpec, ReleaseSpec
from sqlanon.state_url import add_state


def load(
    path: str | os.PathLike[str], environ: Mapping[str, str] | None = None, *, connection: bool = True
) -> PolicySpec:
    """Read a policy file.

    Args:
        path: the YAML file; named hierarchies and orders are relative to this directory.
        environ: values for ``${NAME}``; default: the environment of the process.
        connection: read the variables of ``connection``; without, it stays as it is written, as another database is
            used.

    Raises:
        PolicyError: with every problem of the file, each as ``file:line: place: problem; allowed values``.
    """
    document = read(FilePath(path), os.environ if environ is None else environ, connection=connection)
    return _spec(document, os.fspath(path))


def loads(text: str, environ: Mapping[str, str]) -> PolicySpec:
    """Read the text of a policy; see `load`. Files it names are relative to the working directory."""
    return _spec(Document("policy", text, environ), "")


def load_document(document: Document, path: str | os.PathLike[str]) -> PolicySpec:
    """Read a text in place of that of a policy file; files that it names are relative to the file's directory."""
    return _spec(document, os.fspath(path))


def _spec(document: Document, path: str) -> PolicySpec:
    problems = Problems(document)
    for place, what, allowed in document.found:
        problems.add(place, what, allowed)
    problems.mute(document.unread)
    if not isinstance(document.data, dict):
        what = "the file is empty" if document.data is None and not document.found else "not a mapping"
        problems.add((), what, "a policy begins with version: 1; sqlanon init proposes one")
        problems.stop()
    raw: dict[str, Any] = document.data if isinstance(document.data, dict) else {}
    connection, alone = _head(raw, problems)
    read_state = document.display(("state",), "")
    budgets = noisy.read_budgets(raw.get("budgets"), problems, FilePath(path).parent)
    releases = _releases(raw, problems, FilePath(path).parent, document, budgets)
    if alone and not all(lake_of(release.source) for release in releases):
        problems.add(("state",), "a source is a table of a database, and none is named", "name it: connection: URL")
    problems.stop()
    shown = str(raw["connection"]) if read_state and not alone else ""
    connection_text = (read_state if alone else document.display(("connection",), shown)) or None
    return PolicySpec(
        connection=connection,
        releases=tuple(releases),
        path=path or None,
        written=connection_text,
        budgets=tuple(budgets.values()),
        makes_file=alone,
    )


def _head(raw: dict[str, Any], problems: Problems) -> tuple[str | None, bool]:
    """Check everything but the single releases.

    Returns:
        the connection, with the database of the ledgers; and whether it is ``state`` alone, as lake tables need no
        other database.
    """
    head = POLICY.read_at(raw, (), problems.add)
    if head is BROKEN:
        return None, False
    connection, state = cast("str | None", head.connection), cast("str | None", head.state)
    if state is None or connection is None:
        return connection or state, state is not None
    try:
        return add_state(connection, state), False
    except ValueError:
        what = "the connection is not of Spark, or names such a database itself; others have transactions of their own"
        problems.add(("state",), what, "leave it out")
        return connection, False


def _releases(
    raw: dict[str, Any], problems: Problems, base: FilePath, document: Document, budgets: noisy.Budgets
) -> list[ReleaseSpec]:
    files = checks.Files(base)
    items = raw.get("releases")
    releases: list[tuple[Path, ReleaseSpec]] = []
    for index, item in enumerate(items if isinstance(items, list) else []):
        path, specs = ("releases", index), []
        if isinstance(item, dict) and noisy.is_noisy(item):
            spec = noisy.read_noisy(item, path, problems, files, default_view, budgets)
            releases += [(path, spec)] if spec is not None else []
            continue
        if isinstance(item, dict) and statistics.KEY in item:
            spec = statistics.read_statistics(item, path, problems, files, default_view)
            releases += [(path, spec)] if spec is not None else []
            continue
        for table_path, table, view in tables.expand_releases(item, path, problems):
            model = read_release(table, table_path, problems)
            if model is not None and isinstance(table, dict):
                if model.publish is None:
                    model = replace(model, publish=default_view(view or model.name))
                specs.append((table_path, checks.build(model, table, table_path, problems, files, view)))
        several = isinstance(item, dict) and "tables" in item
        releases += tables.join_tables(item, path, specs, problems) if several else specs
    _check_unique(releases, problems, document)
    return [release for _, release in releases]


def _check_unique(releases: list[tuple[Path, ReleaseSpec]], problems: Problems, document: Document) -> None:
    """Two releases share neither name nor view nor file."""
    first: dict[tuple[str, object], Path] = {}

    def check(path: Path, value: object, word: str, allowed: str) -> None:
        if problems.broken(path):
            return
        earlier = first.setdefault((word, value), path)
        if earlier != path:
            problems.add(path, f"the {word} of the release in line {document.line(earlier)} again", allowed)

    for release_path, release in releases:
        check((*release_path, "name"), release.name, "name", "each release has its own name")
        if release.publish_file is not None:
            file = os.path.normpath(release.publish_file)
            check((*release_path, "publish_file"), file, "file", "each file holds one release")
        elif release.publish_lake is not None:
            place = os.path.abspath(release.publish_lake.partition(":")[2])  # noqa: PTH100 - of any name
            check((*release_path, "publish"), place, "table", "each table holds one release")
        elif document.holds((*release_path, "publish")) or not problems.broken((*release_path, "name")):
            view = tuple(part.casefold() for part in name_parts(release.publish or "") or ())
            allowed = "each release publishes to its own view (case does not count)"
            check((*release_path, "publish"), view, "view", allowed)
