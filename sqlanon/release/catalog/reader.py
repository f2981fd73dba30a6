"""Reading the catalog: each query names the rows it needs, and the database gives these rows alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sqlanon.engines.base import Bind, Engine, LookupResult, Row, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.lake_names import lake_of
from sqlanon.release.catalog.entry import LATER, READ, Entry, entry_of
from sqlanon.release.catalog.private_tables import METADATA, SENSITIVE, SYNTHETIC, private_table
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.spec import RefreshSpec
from sqlanon.sqltext import statement

STEP = "step"
"""Column with the order of a version's rows, for engines that change no rows.

Other engines' catalogs need no such column.
"""

_JSON: dict[str, Bind] = {
    "own_boxes": '%"own_boxes": true%',
    "erasing": '%"erasing": %',
    "nothing": '%"erasing": 0%',
    "lineage": '%"lineage": {%',
}
"""Patterns of texts that `json.dumps` wrote.

They find all versions of a kind; the caller checks the result.
"""

_UNCONDITIONAL: dict[str, object] = {
    "release": False,
    "statuses": (),
    "versions": (),
    "source": False,
    "schema": False,
    "views": (),
}

_NAMED = 20
"""Maximum number of releases named in an error."""


@dataclass(frozen=True, slots=True)
class Place:
    """Names of a published release: of the release, the source and the view.

    ``file``: the file of the view, unless the view is in the database.
    """

    release: str
    source: str
    view_schema: str | None
    view_name: str | None
    file: str | None


@dataclass(frozen=True, slots=True)
class ReleaseLeftovers:
    """A release as `clean` sees it: number of versions per state.

    Attributes:
        open: versions that are being made, or were given up.
        spare: versions for a rollback; the oldest of them is ``oldest``.
        erased: the newest version that erased keys.
        keep: number of versions that stay.
    """

    release: str
    open: int
    spare: int
    published: int
    oldest: int
    erased: int
    keep: int

    @property
    def needed(self) -> bool:
        """Whether `clean` must drop or settle a version."""
        return self.open > 0 or (
            self.spare > 0 and (self.spare + self.published > self.keep or self.erased > self.oldest)
        )


class CatalogReader:
    """Queries of the catalog of a database.

    An engine that changes no rows has several rows per version, and the last counts: there all rows of a release are
    read.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.table = private_table(engine, "catalog")
        self._secrets = private_table(engine, "secrets")

    @property
    def tables(self) -> tuple[TableRef, ...]:
        """Tables to look up before the catalog is read."""
        return (self.table, self._secrets)

    def entries(
        self,
        release: str | None = None,
        *,
        statuses: Sequence[str] = (),
        versions: Sequence[int] = (),
        views: Sequence[TableRef] = (),
        source: str | None = None,
    ) -> list[Entry]:
        """The catalog's rows, by release and version; empty if there is no catalog yet.

        Args:
            release: only this release.
            statuses: only these states.
            versions: only these numbers.
            views: only releases that may have published any of these views, which are in the same schema.
            source: only this source.
        """
        binds: dict[str, Bind] = {
            key: value for key, value in (("release", release), ("source", source)) if value is not None
        }
        context = {
            "release": release is not None,
            "source": source is not None,
            "statuses": _bound(binds, "status", statuses if self._engine.updates else ()),
            "versions": _bound(binds, "version", versions),
            **_view_parameters(binds, views),
        }
        rows = self._fetch_entries("catalog/list", binds, context)
        return [entry for entry in rows if not statuses or entry.status in statuses]

    def live(self, lookup: LookupResult | None, release: str) -> list[Entry]:
        """Versions of a release that a run, a rollback or `clean` needs, by version.

        Versions that have tables or are being made; the newest of each status, and so the newest of all; the newest of
        a lineage that readers had; versions with a certificate, as later versions are compared with them; versions that
        erased keys after a version that has tables. Other versions with dropped tables are left out.

        Args:
            lookup: the catalog's tables as they were looked up by a caller that made sure of safe reading; None to look
                them up.
            release: the release.
        """
        binds = {"release": release, **_JSON}
        name = "catalog/live" if self._engine.updates else "catalog/list"
        return self._fetch_entries(name, binds, {**_UNCONDITIONAL, "release": True}, lookup)

    def list_with_secret(self, lookup: LookupResult, release: str) -> tuple[list[Entry], str | None]:
        """Every row, and the key of a release's hashes, in one statement, of the tables as they were looked up."""
        if self._secrets not in lookup.relations:
            return self._fetch_entries("catalog/list", {}, _UNCONDITIONAL, lookup), None
        columns = self._columns(lookup)
        context = {**_UNCONDITIONAL, "columns": columns, "secrets": self._secrets}
        rows = self._rows("catalog/list_with_secret", {"release": release}, context, lookup, safe=True)
        secret = next((str(row[-1]) for row in rows if row[-1] is not None), None)
        return self._newest([row[:-1] for row in rows]), secret

    def list_with_content(
        self, lookup: LookupResult, release: str, source: TableRef, hashed: Sequence[str]
    ) -> tuple[list[Entry], tuple[str, int, str] | None]:
        """Every row, with the secret of a release and number and hash of the source's rows, in one statement.

        Args:
            lookup: the catalog's tables as they were looked up.
            release: the release.
            source: the source.
            hashed: the columns to hash.

        Returns:
            the rows, and the content of the source; None without a secret: then no row of the source was hashed.
        """
        context = {"columns": self._columns(lookup), "secrets": self._secrets, "source": source, "hashed": hashed}
        rows = self._rows("refresh/glance", {"release": release}, context, lookup, safe=True)
        rows.sort(key=lambda row: (str(row[0]), read_integer(row[1])))
        entries = self._newest([row[:-1] for row in rows])
        content = cast("Mapping[str, object]", rows[0][-1]) if rows else {"mark": None}
        if content["mark"] is None:
            return entries, None
        return entries, (str(content["secret"]), read_integer(content["n"]), str(content["mark"]))

    def beside(self, lookup: LookupResult, release: str, source: str, views: Sequence[TableRef]) -> list[Entry]:
        """The published versions of other releases that have the same source, or perhaps any of these views."""
        binds: dict[str, Bind] = {"release": release, "source": source}
        return self._fetch_entries("catalog/beside", binds, _view_parameters(binds, views), lookup)

    def instead(self, source: str) -> list[Entry]:
        """The last version that readers had, for each place where a source was released."""
        if not self._engine.updates:
            return self.entries(source=source)
        return self._fetch_entries("catalog/instead", {"source": source}, {})

    def releases(self) -> list[str]:
        """The names of all releases."""
        return [str(row[0]) for row in self._rows("catalog/releases", {})]

    def versions(self, release: str) -> list[int]:
        """The numbers of the versions of a release."""
        return [read_integer(row[0]) for row in self._rows("catalog/versions", {"release": release})]

    def places(self) -> list[Place]:
        """The published versions as queries name them."""
        if not self._engine.updates:
            entries = self.entries(statuses=("published",))
            return [
                Place(entry.release, entry.source, entry.view_schema, entry.view_name, entry.file) for entry in entries
            ]
        texts = [[None if cell is None else str(cell) for cell in row] for row in self._rows("catalog/places", {})]
        return [Place(str(row[0]), str(row[1]), *row[2:]) for row in texts]

    def find_published(self, name: str) -> Entry | None:
        """Published version of a release, by the name of the release, the view or the lake table; None without one."""
        entries = self.entries(name, statuses=("published",)) or self.list_in_lake(name)
        if not entries:
            view = self._engine.target(name)
            of_view = self.entries(statuses=("published",), views=[view])
            entries = [entry for entry in of_view if (entry.view_schema, entry.view_name) == (view.schema, view.name)]
        return entries[-1] if entries else None

    def list_in_lake(self, name: str) -> list[Entry]:
        """Published versions in a lake table, by the name of that; none of other tables."""
        if lake_of(name) is None or self._engine.lake is None:
            return []
        try:
            place = self._engine.lake.place(name)
        except UnsupportedError:
            return []  # nothing is published into such tables
        return [entry for entry in self.entries(statuses=("published",)) if entry.lake.get("place") == place]

    def list_published_names(self) -> str:
        """The names of the published releases, as an error lists them."""
        return format_names([place.release for place in self.places()])

    def files(self, release: str) -> list[tuple[str, str | None, str]]:
        """The files that a release was published into, each with the schema and the name of the view."""
        rows = self._rows("catalog/files", {"release": release})
        return [(str(file), None if schema is None else str(schema), str(name)) for file, schema, name in rows]

    def list_looks(self, release: str, after: str) -> list[tuple[str, dict[str, object]]]:
        """Times after ``after`` at which runs looked at versions of a release, and the reports of these versions."""
        rows = self._rows("catalog/later", {"release": release, "at": after})
        return [(str(time), json.loads(str(report))) for time, report in rows]

    def untidy(self) -> list[ReleaseLeftovers]:
        """Releases in which `clean` may have work now."""
        releases = []
        for release, *numbers, policy in self._rows("catalog/untidy", _JSON):
            refresh = json.loads(str(policy)).get("refresh")
            keep = int(refresh["keep"]) if refresh else RefreshSpec().keep
            opened, spare, published, oldest, erased = (read_integer(number or 0) for number in numbers)
            releases.append(ReleaseLeftovers(str(release), opened, spare, published, oldest, erased, keep))
        return [release for release in releases if release.needed]

    def unknown_name(self, release: str) -> PolicyError:
        """The error of a release that the catalog does not have; it names the known releases."""
        return PolicyError(f"{release} is not a release of this database; releases: {format_names(self.releases())}")

    def _fetch_entries(
        self, name: str, binds: dict[str, Bind], context: Mapping[str, object], lookup: LookupResult | None = None
    ) -> list[Entry]:
        there = lookup or self._engine.look_up(self.tables)
        columns = self._columns(there)
        rows = self._rows(name, binds, {**context, "columns": columns}, there, safe=lookup is not None)
        return self._newest(rows)

    def _columns(self, there: LookupResult) -> list[dict[str, object]]:
        """The columns of catalog/list."""
        present = {column.name for column in there.columns(self.table)}
        return [{"name": name, "known": name in present or name in READ[: -len(LATER)]} for name in (*READ, STEP)]

    def _newest(self, rows: Sequence[Row]) -> list[Entry]:
        """The last row of each version."""
        last: dict[tuple[object, object], Row] = {}
        for row in sorted(rows, key=lambda row: read_integer(row[-1] or 0)):
            last[row[0], row[1]] = row
        return [entry_of(row[:-1], self.table.database) for row in rows if last[row[0], row[1]] is row]

    def _rows(
        self,
        name: str,
        binds: dict[str, Bind],
        context: Mapping[str, object] | None = None,
        lookup: LookupResult | None = None,
        *,
        safe: bool = False,
    ) -> list[Row]:
        """Rows of the catalog; ``safe``: the caller has made sure that reading runs no code of another role."""
        there = lookup or self._engine.look_up(self.tables)
        if self.table not in there.relations:
            return []
        query = statement(name, self._engine.dialect, binds, run=None, catalog=self.table, **(context or {}))
        if safe:
            return self._engine.fetch(query, max_rows=_MOST)
        with guard_reading(self._engine, self.table):
            return self._engine.fetch(query, max_rows=_MOST)


_MOST = 10_000_000
"""Maximum number of listed versions of a catalog."""


def format_names(names: Sequence[str]) -> str:
    """Names of releases as an error lists them."""
    shown = sorted(names)
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return f"{', '.join(shown[:_NAMED])}{more}" or "none"


def in_ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as an error lists them: 1, 2, 5 to 900."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    shown = [f"{run[0]} to {run[-1]}" if run[-1] - run[0] > 1 else ", ".join(map(str, run)) for run in runs[-_NAMED:]]
    return ("..., " if len(runs) > _NAMED else "") + ", ".join(shown)


def _bound(binds: dict[str, Bind], name: str, values: Sequence[str] | Sequence[int]) -> list[str]:
    """Add values to the bind values, and give their names there."""
    names = [f"{name}_{i}" for i in range(len(values))]
    binds.update(zip(names, values, strict=True))
    return names


def _view_parameters(binds: dict[str, Bind], views: Sequence[TableRef]) -> dict[str, object]:
    """Parameters of the search for releases with any of some views.

    A view is found by the view's name, or by the name of the view beside it.
    """
    names = {view.name.removesuffix(end) for view in views for end in ("", METADATA, SENSITIVE, SYNTHETIC)}
    schema = views[0].schema if views else None
    if schema is not None:
        binds["schema"] = schema
    return {"schema": schema is not None, "views": _bound(binds, "view", sorted(names))}
