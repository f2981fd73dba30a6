"""The files of a bundle, of the published version of a release."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Mapping
from typing import Any, Literal

from sqlanon._version import __version__
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.catalog.approvals import Approvals
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.redacted_policy import hash_policy
from sqlanon.release.catalog.views import spell_table
from sqlanon.report.evidence.archive import pack
from sqlanon.report.evidence.figures import SCHEMA, figures_for, list_figures
from sqlanon.report.frames import FRAMES, frame_report
from sqlanon.report.owner import find_described
from sqlanon.report.page import write_page
from sqlanon.report.readers import readers_report
from sqlanon.results import RunReport

FORMAT = "sqlanon-evidence/1"
MANIFEST = "manifest.json"
Audience = Literal["owner", "readers"]
PACKAGES = ("duckdb", "jinja2", "numpy", "psycopg", "pyspark", "sqlglot")
"""Packages whose versions are noted, where they are installed."""


def make_bundle(engine: Engine, release: str, audience: Audience = "owner", progress: Progress | None = None) -> bytes:
    """The bundle of the published version, as an archive.

    Args:
        engine: the database of the source, with the rights of the owner.
        release: the release's name or its view.
        audience: ``readers``: of the release alone; without catalog, approvals and figures of the source.
        progress: gets the parts.

    Raises:
        PolicyError: no such release is published.
        DatabaseError: the database refused.

    Cost: that of the reports: a few groupings of the release.
    """
    entry = find_described(engine, release)
    if audience == "readers" and entry.view is None:
        raise PolicyError(
            f"{release} was published into another file: a bundle for readers is made of a view in this database; "
            "leave out "
            "--for readers"
        )
    files = (
        _for_readers(engine, entry)
        if audience == "readers"
        else _for_owner(engine, entry, progress or SilentProgress())
    )
    figures = list_figures(entry.release, entry.version, entry.policy, _report(entry))
    files |= {
        "policy.json": hash_policy(entry.policy)[0].encode(),
        "figures.json": write_json(figures_for(audience, figures)),
        "figures.schema.json": write_json(SCHEMA),
    }
    manifest = {
        "format": FORMAT,
        "release": entry.release,
        "version": entry.version,
        "audience": audience,
        "published_at": entry.published_at,
        "policy_sha256": hashlib.sha256(files["policy.json"]).hexdigest(),
        "software": {"release": {"sqlanon": entry.sqlanon}, "bundle": {"sqlanon": __version__, **_list_installed()}},
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    return pack({**files, MANIFEST: write_json(manifest)})


def _report(entry: Entry) -> RunReport:
    return RunReport.from_dict(entry.report)


def _for_readers(engine: Engine, entry: Entry) -> dict[str, bytes]:
    assert entry.view is not None
    page = readers_report(engine, spell_table(entry.view))
    return {"report.html": write_page(page).encode()}


def _for_owner(engine: Engine, entry: Entry, progress: Progress) -> dict[str, bytes]:
    files = {}
    variables = None
    for name in FRAMES:
        try:
            page = frame_report(engine, entry.release, name, progress, variables=variables)
        except PolicyError:
            continue  # a frame about pseudonyms, of a release without, or one about rows
        variables = next((section for section in page.sections if section.anchor == "variables"), None)
        files[f"report-{name}.html"] = write_page(page).encode()
    rows = [
        describe_row(version) for version in Catalog(engine).entries(entry.release) if version.version <= entry.version
    ]
    decisions = [decision.to_dict() for decision in Approvals(engine).list(entry.release)]
    return {**files, "catalog.json": write_json(rows), "approvals.json": write_json(decisions)}


def describe_row(entry: Entry) -> dict[str, Any]:
    """A row of the catalog without the fields that change later: status, and time of the last run."""
    return {
        "release": entry.release,
        "version": entry.version,
        "source": entry.source,
        "source_columns": entry.source_columns,
        "fingerprint": entry.fingerprint,
        "policy": entry.policy,
        "policy_hash": entry.policy_hash,
        "report": entry.report,
        "published_at": entry.published_at,
        "published_by": entry.published_by,
        "sqlanon": entry.sqlanon,
    }


def write_json(value: object) -> bytes:
    """JSON in one form."""
    return (json.dumps(value, sort_keys=True, indent=1, default=str) + "\n").encode()


def _list_installed() -> Mapping[str, str]:
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
