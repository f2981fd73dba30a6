"""Subject of a comparison: a published release and the source.

The catalog and the release's metadata describe them.

Only the metadata of a release are read here; `datacube` looks at rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlanon.column_spec import ColumnSpec, Hierarchy, Recode, Rule
from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError
from sqlanon.evaluate.sides import Sides
from sqlanon.formats import Format, Names, format_of
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry, refuse_counts
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.views import is_pair, metadata_of, sensitive_of
from sqlanon.results import LossReport, RunReport
from sqlanon.spec import FormatSpec, PrivacySpec, ReleaseSpec
from sqlanon.sqltext import identifier, statement
from sqlanon.table import rules
from sqlanon.table.reading import Reading, Roles
from sqlanon.table.roles import assign_roles


@dataclass(frozen=True, slots=True)
class Subject:
    """A published release together with the source.

    Attributes:
        name: the release's.
        view: where the release's rows are.
        counted: the table of sensitive values (format anatomy), or None.
        spec: source, columns with their hierarchies and orders, format; irrelevant keys have their defaults.
        roles: those columns in the source.
        published: per quasi column, the form in the view.
        insensitive: columns that are published as they are, besides the sensitive ones.
        loss: as it was measured when the version was made.
        entry: the version in the catalog.
    """

    name: str
    view: TableRef
    counted: TableRef | None
    spec: ReleaseSpec
    roles: Roles
    published: Mapping[str, tuple[str, ...]]
    insensitive: tuple[str, ...] = ()
    loss: LossReport | None = None
    entry: Entry | None = None

    @property
    def sides(self) -> Sides:
        """The two tables to compare."""
        return Sides(self.name, self.view, self.roles.relation.ref)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi columns, by the source's names."""
        return tuple(reading.name for reading in self.roles.quasi)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns, by the source's names."""
        return tuple(reading.name for reading in self.roles.sensitive)

    def only(self, reading: Reading) -> Roles:
        """The roles of a single quasi column."""
        return replace(self.roles, quasi=(reading,), sensitive=(), insensitive=())

    @property
    def form(self) -> Format:
        """How the release was published."""
        return format_of(self.spec.format.kind)

    def names(self, column: str) -> Names:
        """Names in the view of the parts of a quasi column."""
        reading = next(reading for reading in self.roles.quasi if reading.name == column)
        return self.form.names_in_view(reading, self.published[column])


def find_subject(engine: Engine, release: str | None = None) -> Subject:
    """Find a published release by name or view; without either, the only release.

    Raises:
        PolicyError: there is no such release, or it was published into another file, away from the source.
    """
    entry = find_entry(engine, release)
    refuse_counts(entry, "its rows cannot be compared with the source's, as it has none")
    assert entry.view is not None
    query = statement(
        "query/metadata", engine.dialect, metadata=metadata_of(entry.view), columns=[name for name, _ in COLUMNS]
    )
    described = {str(row[0]): row for row in engine.fetch(query)}
    # A policy may spell a column in another case than its source.
    settings = {item["name"].lower(): item for item in entry.policy["columns"]}
    settings |= {item["name"]: item for item in entry.policy["columns"]}
    columns = tuple(
        _column(name, settings.get(name, settings.get(name.lower(), {})), row)
        for name, row in described.items()
        if name and row[1] not in ("insensitive", "pseudonym")
    )
    form = FormatSpec(entry.policy["format"]["kind"])
    spec = ReleaseSpec(entry.release, entry.source, columns, PrivacySpec(), rest="drop", format=form)
    return Subject(
        entry.release,
        entry.view,
        sensitive_of(entry.view) if is_pair(entry) else None,
        spec,
        assign_roles(spec, engine.relation(entry.source)),
        {name: tuple(json.loads(str(row[5]))) for name, row in described.items() if row[1] == "quasi"},
        tuple(name for name, row in described.items() if row[1] == "insensitive"),
        RunReport.from_dict(entry.report).loss,
        entry,
    )


def find_entry(engine: Engine, release: str | None = None) -> Entry:
    """A published version next to the source; see `find_subject`."""
    catalog = Catalog(engine)
    if release is not None:
        entry = catalog.find_published(release)
    else:
        places = catalog.places()
        if len(places) > 1:
            raise PolicyError(f"several releases are published here; name one of: {catalog.list_published_names()}")
        entry = catalog.find_published(places[0].release) if places else None
    if entry is not None and entry.view is None:
        raise PolicyError(
            f"{entry.release} was published into {entry.file}, away from its source; publish it into the source's "
            "database as well to compare the two"
        )
    if entry is not None:
        return entry
    if not catalog.places():
        raise PolicyError("no release is published in this database; make one with: sqlanon run")
    raise PolicyError(
        f"{release} is neither a published release nor the view of one; there are: {catalog.list_published_names()}"
    )


def _column(name: str, settings: Mapping[str, Any], described: tuple[object, ...]) -> ColumnSpec:
    """A column with the settings in the policy.

    Lists of values come from the metadata, since the catalog holds only their hashes.
    """
    _, role, kind, _, _, _, declared = described
    values = json.loads(str(declared)) if declared is not None else {}
    words: dict[str, Literal["alphabetical", "declared"]] = {"alphabetical": "alphabetical", "declared": "declared"}
    return ColumnSpec(
        name,
        "quasi" if role == "quasi" else "sensitive",
        hierarchy=_hierarchy(name, values) if kind == "hierarchy" else None,
        recode=Recode(**values["recode"]) if "recode" in values else None,
        ordered=tuple(values["order"]) if "order" in values else words.get(str(settings.get("ordered"))),
    )


def _hierarchy(name: str, declared: Mapping[str, Any]) -> Hierarchy | Rule:
    """The rule or the tree that metadata declare: nodes are (level, first leaf, leaves, label)."""
    if "rule" in declared:
        return rules.read(declared["rule"])
    paths: list[list[str]] = [[] for _ in declared["leaves"]]
    for _, first, leaves, label in sorted(declared["nodes"], key=lambda node: node[0]):
        for path in paths[first : first + leaves]:
            path.append(label)
    return Hierarchy(f"of {identifier(name)}", tuple(map(tuple, paths)))
