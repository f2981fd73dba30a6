"""Check a bundle: whole, consistent, and where a database is given the one that it would write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation
from sqlanon.release.catalog.approvals import Approvals
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.policy_diff import SETTINGS
from sqlanon.release.catalog.redacted_policy import hash_policy
from sqlanon.report.evidence.archive import unpack
from sqlanon.report.evidence.bundle import FORMAT, MANIFEST, describe_row, make_bundle, write_json
from sqlanon.report.evidence.figures import SCHEMA, figures_for, list_figures
from sqlanon.results import RunReport
from sqlanon.results.base import Report

_COMMON = ("figures.json", "figures.schema.json", "policy.json")


@dataclass(frozen=True, slots=True)
class CheckedBundle(Report):
    """A bundle that is whole.

    Attributes:
        release, version, audience: subject and recipients of the bundle.
        sha256: of the archive.
        files: how many it has.
        compared: the catalog of a database has this version, with the same policy and report.
        pages: every page, and every other file, is the one that the database gives now. False: one was edited, or
            there are other approvals, releases, attacks or settings since. None: not compared, as another version is
            published, or other software made the bundle.
        settings: keys of the policy that do not change the released rows, such as context, of which the catalog has
            another value: it was edited in the bundle, or a run has changed it since.
    """

    release: str
    version: int
    audience: str
    sha256: str
    files: int
    compared: bool
    pages: bool | None = None
    settings: tuple[str, ...] = ()


def check_bundle(data: bytes, engine: Engine | None = None) -> CheckedBundle:
    """Check a bundle.

    Args:
        data: the archive.
        engine: the source's database: its catalog must have the same version; None: only the bundle itself is checked,
            which whoever forges all of it can satisfy.

    Raises:
        PrivacyViolation: a file was changed, added or removed, figures or hashes do not agree, the catalog has
            another version of this name and number, or the database lacks an approval of the bundle.
    """
    files = unpack(data)
    manifest = _read(files, MANIFEST)
    if manifest.get("format") != FORMAT:
        raise PrivacyViolation("not a bundle of this version of sqlanon: the manifest has another format")
    release, version, audience = (manifest.get(key) for key in ("release", "version", "audience"))
    if not isinstance(release, str) or not isinstance(version, int) or audience not in ("owner", "readers"):
        raise PrivacyViolation("not a bundle of sqlanon: its manifest does not name a version")
    digests = manifest.get("files")
    if not isinstance(digests, Mapping) or set(digests) != set(files) - {MANIFEST}:
        raise PrivacyViolation("the bundle was changed: its files are not those of the manifest")
    for name, digest in sorted(digests.items()):
        if hashlib.sha256(files[name]).hexdigest() != digest:
            raise PrivacyViolation(f"the bundle was changed: {name} is not the file of the manifest")
    missing = [name for name in _COMMON if name not in files]
    if missing:
        raise PrivacyViolation(f"the bundle lacks {', '.join(missing)}")
    policy, figures = _read(files, "policy.json"), _read(files, "figures.json")
    if hashlib.sha256(files["policy.json"]).hexdigest() != manifest.get("policy_sha256"):
        raise PrivacyViolation("the bundle was changed: its policy has another hash than the manifest has")
    about = (figures.get("release"), figures.get("version"))
    if about != (release, version) or files["figures.schema.json"] != write_json(SCHEMA):
        raise PrivacyViolation("the figures are of another version, or of another schema")
    if audience == "owner":
        _read(files, "approvals.json", list)
        _check_row(files, manifest, policy, figures)
    pages: bool | None = None
    settings: tuple[str, ...] = ()
    if engine is not None:
        settings = _compare(engine, files, manifest)
        if audience == "owner":
            _compare_approvals(engine, files, release)
        pages = _compare_pages(engine, files, manifest)
    return CheckedBundle(
        release=release,
        version=version,
        audience=audience,
        sha256=hashlib.sha256(data).hexdigest(),
        files=len(files),
        compared=engine is not None,
        pages=pages,
        settings=settings,
    )


def _check_row(
    files: Mapping[str, bytes], manifest: Mapping[str, Any], policy: Mapping[str, Any], figures: Mapping[str, Any]
) -> None:
    """The catalog's row in the bundle gives the policy and the figures in it."""
    rows = _read(files, "catalog.json", list)
    matching = [row for row in rows if isinstance(row, Mapping) and row.get("version") == manifest["version"]]
    if len(matching) != 1:
        raise PrivacyViolation("the bundle's catalog lacks the version that it is about")
    (row,) = matching
    if row.get("policy") != policy or hash_policy(policy)[1] != manifest["policy_sha256"]:
        raise PrivacyViolation("the bundle's catalog has another policy than the bundle")
    try:
        recomputed = list_figures(row["release"], row["version"], policy, RunReport.from_dict(row["report"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise PrivacyViolation("the report in the bundle's catalog cannot be read") from None
    if json.loads(json.dumps(recomputed)) != figures:
        raise PrivacyViolation("the figures of the bundle are not those of the report in its catalog")


def _compare(engine: Engine, files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Compare what the catalog keeps of the version, and of those before it; gives the settings that differ."""
    release, version = str(manifest["release"]), int(manifest["version"])
    entries = {entry.version: entry for entry in Catalog(engine).entries(release)}
    if version not in entries:
        raise PrivacyViolation(f"the catalog of the database has no version {version} of {release}")
    entry = entries[version]
    policy = _read(files, "policy.json")
    figures = list_figures(entry.release, entry.version, entry.policy, RunReport.from_dict(entry.report))
    same = files["figures.json"] == write_json(figures_for(str(manifest["audience"]), figures))
    same &= manifest.get("published_at") == entry.published_at
    same &= _read_maker(manifest) == entry.sqlanon
    settings = _other_keys(policy, entry.policy)
    if "catalog.json" in files:
        stored = {entry.version: json.loads(write_json(describe_row(entry))) for entry in entries.values()}
        for row in _read(files, "catalog.json", list):
            number = row.get("version") if isinstance(row, Mapping) else None
            stored_row = stored.get(number) if isinstance(number, int) else None
            same &= stored_row is not None and _without_policy(row) == _without_policy(stored_row)
            if stored_row is not None:
                settings |= _other_keys(row.get("policy"), stored_row["policy"])
    if not same or not settings <= {*SETTINGS, "persons"}:
        raise PrivacyViolation(
            f"the bundle is not of version {version} of {release} as the catalog of the database has it"
        )
    return tuple(sorted(settings))


def _read_maker(manifest: Mapping[str, Any]) -> object:
    try:
        return manifest["software"]["release"]["sqlanon"]
    except (KeyError, TypeError):
        return None


def _other_keys(first: object, other: Mapping[str, Any]) -> set[str]:
    """Keys of which two policies have other values; of something that is no policy, all."""
    settings = first if isinstance(first, Mapping) else {}
    return {str(key) for key in {*settings, *other} if settings.get(key) != other.get(key)}


def _without_policy(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without its policy, whose settings a run may have changed since."""
    return {key: value for key, value in row.items() if key not in ("policy", "policy_hash")}


def _compare_approvals(engine: Engine, files: Mapping[str, bytes], release: str) -> None:
    """Nobody changes or removes a decision: the database has all those of the bundle, and later ones perhaps."""
    approvals = [json.loads(write_json(approval.to_dict())) for approval in Approvals(engine).list(release)]
    if any(approval not in approvals for approval in _read(files, "approvals.json", list)):
        raise PrivacyViolation(f"the bundle has an approval of {release} that the database does not have")


def _compare_pages(engine: Engine, files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> bool | None:
    release = str(manifest["release"])
    published = Catalog(engine).find_published(release)
    if published is None or published.version != manifest["version"]:
        return None
    again = unpack(make_bundle(engine, release, "readers" if manifest["audience"] == "readers" else "owner"))
    if json.loads(again[MANIFEST])["software"] != manifest.get("software"):
        return None
    return {**again, MANIFEST: b""} == {**files, MANIFEST: b""}


def _read(files: Mapping[str, bytes], name: str, kind: type = dict) -> Any:  # noqa: ANN401 - JSON
    try:
        content = json.loads(files[name])
    except (KeyError, ValueError, RecursionError):
        raise PrivacyViolation(f"not a bundle of sqlanon: {name} is missing, or no JSON") from None
    if not isinstance(content, kind):
        raise PrivacyViolation(f"not a bundle of sqlanon: {name} has another form")
    return content
