"""OpenLineage events of operations on releases, for data catalogs: names and types of tables and columns, no value.

They are sent where the environment variable ``SQLANON_LINEAGE`` is set, by the transport that the client of OpenLineage
reads from the client's own variables or file (``OPENLINEAGE_URL``, ``OPENLINEAGE_CONFIG``, ``openlineage.yml``).
Failures are logged, and stop nothing.
"""

from __future__ import annotations

import datetime
import importlib
import logging
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlanon._version import __version__
from sqlanon.engines.base import Engine, Relation
from sqlanon.errors import SqlanonError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import spell_table

if TYPE_CHECKING:
    from sqlanon.query.release import Field

log = logging.getLogger("sqlanon.lineage")

SWITCH = "SQLANON_LINEAGE"
PRODUCER = f"https://github.com/sqlanon/sqlanon/tree/v{__version__}"
EXTRA = "openlineage.client"


def namespace_of(url: object) -> str:
    """The database of a URL as OpenLineage names databases, without user and password.

    >>> namespace_of("postgresql://me:secret@host:5433/ward"), namespace_of(object())
    ('postgres://host:5433/ward', 'spark')
    """
    if not isinstance(url, str):
        return "spark"
    parts = urlsplit(url)
    if parts.scheme.startswith("postgres"):
        return f"postgres://{parts.hostname or 'localhost'}:{parts.port or 5432}{parts.path}"
    if parts.scheme == "duckdb" and parts.path.strip("/") not in ("", ":memory:"):
        return f"duckdb://{Path(parts.path[1:]).absolute()}"
    return parts.scheme or "duckdb"


@dataclass
class Operation:
    """An operation on some releases.

    Attributes:
        name: run, unpublish, erase or rollback.
        releases: the names of the releases.
        withdrawn: per release the version that readers lost.
    """

    name: str
    releases: Sequence[str]
    withdrawn: dict[str, Entry] = field(default_factory=dict)


@contextmanager
def reporting(engine: Engine, namespace: str, name: str, releases: Sequence[str]) -> Iterator[None]:
    """Send the beginning and the end of an operation, where that is asked for.

    Args:
        engine: the database.
        namespace: see `namespace_of`.
        name: of the operation.
        releases: of which each has a separate event.
    """
    if os.environ.get(SWITCH, "").casefold() not in ("1", "true", "yes", "on"):
        yield
        return
    operation = Operation(name, releases, {entry.release: entry for entry in _list_published(engine, releases)})
    sender = _Sender(engine, namespace, operation)
    sender.send("START")
    try:
        yield
    except BaseException as error:
        sender.send("FAIL", type(error).__name__)
        raise
    sender.send("COMPLETE")


def _list_published(engine: Engine, releases: Sequence[str]) -> list[Entry]:
    try:
        return [entry for entry in Catalog(engine).entries(statuses=("published",)) if entry.release in releases]
    except SqlanonError:
        return []


class _Sender:
    """The events of one operation, with one run number for each release."""

    def __init__(self, engine: Engine, namespace: str, operation: Operation) -> None:
        self._engine = engine
        self._namespace = namespace
        self._operation = operation
        self._runs = {name: str(uuid.uuid4()) for name in operation.releases}

    def send(self, state: str, failed: str = "") -> None:
        """Send the events of a moment; failures are logged."""
        try:
            library = importlib.import_module(EXTRA)
        except ImportError:
            log.warning("%s is set, and openlineage-python is not installed: pip install 'sqlanon[lineage]'", SWITCH)
            return
        try:
            client = library.OpenLineageClient()
        except Exception as error:  # noqa: BLE001 - of another's configuration
            log.warning("no lineage was sent: %s", type(error).__name__)
            return
        published = {entry.release: entry for entry in _list_published(self._engine, self._operation.releases)}
        for name in self._operation.releases:
            try:
                entry = published.get(name) or self._operation.withdrawn.get(name)
                client.emit(self._event(name, state, failed, entry, gone=name not in published))
            except Exception as error:  # noqa: BLE001 - a catalog that is away stops no release
                log.warning("no lineage of %s was sent: %s", name, type(error).__name__)

    def _event(self, name: str, state: str, failed: str, entry: Entry | None, *, gone: bool) -> object:
        events = importlib.import_module(f"{EXTRA}.event_v2")
        facets = importlib.import_module(f"{EXTRA}.facet_v2")
        inputs: list[object] = []
        outputs: list[object] = []
        if state == "COMPLETE" and entry is not None:
            source = entry.source
            schema = _schema(facets, list(entry.source_columns or ()))
            inputs.append(events.InputDataset(self._namespace, source, facets={"schema": schema}))
            outputs.append(self._output(events, facets, entry, gone=gone))
        about = {}
        if failed:
            about["errorMessage"] = facets.error_message_run.ErrorMessageRunFacet(failed, "SQL")
        job = {"jobType": facets.job_type_job.JobTypeJobFacet("BATCH", "SQLANON", self._operation.name.upper())}
        return events.RunEvent(
            eventTime=datetime.datetime.now(datetime.UTC).isoformat(),
            producer=PRODUCER,
            eventType=getattr(events.RunState, state),
            run=events.Run(self._runs[name], about),
            job=events.Job(os.environ.get("OPENLINEAGE_NAMESPACE", "sqlanon"), f"{name}.{self._operation.name}", job),
            inputs=inputs,
            outputs=outputs,
        )

    def _output(self, events: Any, facets: Any, entry: Entry, *, gone: bool) -> object:  # noqa: ANN401 - its modules
        name = str(entry.report.get("published", entry.release))
        change = "DROP" if gone else "OVERWRITE" if entry.report.get("replaces") else "CREATE"
        state = facets.lifecycle_state_change_dataset
        output_facets = {
            "lifecycleStateChange": state.LifecycleStateChangeDatasetFacet(getattr(state.LifecycleStateChange, change))
        }
        if not gone and entry.view is not None and entry.kind.has_rows:
            from sqlanon.query.release import read_release  # which needs the parser of SQL

            released = read_release(self._engine, self._engine.relation(spell_table(entry.view)))
            output_facets["schema"] = _schema(facets, _columns(released.view))
            output_facets["columnLineage"] = self._lineage(facets, entry, released.fields)
        return events.OutputDataset(self._namespace, name, facets=output_facets)

    def _lineage(self, facets: Any, entry: Entry, fields: Sequence[Field]) -> object:  # noqa: ANN401
        lineage_facets = facets.column_lineage_dataset
        fields_of: dict[str, object] = {}
        for source_field in fields:
            subtype, masking, text = describe_change(source_field, entry.policy, entry.report)
            change = lineage_facets.Transformation("DIRECT", subtype, text, masking)
            source = lineage_facets.InputField(self._namespace, entry.source, source_field.name, [change])
            fields_of |= {name: lineage_facets.Fields([source]) for name in source_field.published}
        return lineage_facets.ColumnLineageDatasetFacet(fields_of)


def describe_change(column: Field, policy: Mapping[str, Any], report: Mapping[str, Any]) -> tuple[str, bool, str]:
    """Subtype, whether values are masked, and a description of the treatment of a published column."""
    subtype, masking, text = _describe_role(column.role, policy, report)
    if column.recode is None:
        return subtype, masking, text
    return "TRANSFORMATION", True, f"recoded ({', '.join(column.recode.to_metadata())}), then {text}"


def _describe_role(role: str, policy: Mapping[str, Any], report: Mapping[str, Any]) -> tuple[str, bool, str]:
    if role == "quasi":
        least = report.get("min_class")
        return "TRANSFORMATION", True, f"generalized ({report.get('format')}) to classes of at least {least} rows"
    if role == "pseudonym":
        return "TRANSFORMATION", True, "replaced by a token, a keyed hash"
    if role == "sensitive":
        requirement_names = [
            name for name, value in policy["privacy"].items() if value and name not in ("k", "joint", "accuracy")
        ]
        return "IDENTITY", False, f"published as it is; requirements: {', '.join(requirement_names) or 'none'}"
    return "IDENTITY", False, "published as it is"


def _columns(relation: Relation) -> list[tuple[str, str]]:
    return [(column.name, column.shown_type) for column in relation.columns]


def _schema(facets: Any, columns: Sequence[tuple[str, str]]) -> object:  # noqa: ANN401 - its module
    schema_facets = facets.schema_dataset
    return schema_facets.SchemaDatasetFacet(
        [schema_facets.SchemaDatasetFacetFields(name, kind) for name, kind in columns]
    )
