"""The reader-visible metadata table of a release: kinds, formats, hierarchy nodes, domains *declared in the policy*.

Nothing here comes from the data but the privacy that a bounded loss allowed: a domain that the policy does not declare
is not published.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence

from sqlanon._version import __version__
from sqlanon.column_spec import Hierarchy, Rule
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import DatabaseError, LockedError
from sqlanon.formats import GROUP, Names, RecodedClasses
from sqlanon.release.catalog.private_tables import METADATA, SENSITIVE
from sqlanon.release.catalog.redacted_policy import write_requirements
from sqlanon.results import RequirementResult
from sqlanon.spec import OWN, Accuracy, PrivacySpec, ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table import rules
from sqlanon.table.reading import Roles
from sqlanon.table.tree import as_tree

COLUMNS = (
    ("column_name", "TEXT"),
    ("role", "TEXT"),
    ("kind", "TEXT"),
    ("format", "TEXT"),
    ("source_type", "TEXT"),
    ("published", "TEXT"),
    ("declared", "TEXT"),
)
"""A row per source column; ``published`` and ``declared`` are JSON. The row of column '' describes the release."""


def metadata_name(view: str) -> str:
    """The name of the metadata view of ``view``."""
    return f"{view}{METADATA}"


def metadata_rows(
    spec: ReleaseSpec,
    roles: Roles,
    names: Mapping[str, Names],
    version: int,
    facts: Mapping[str, object],
    reached: Sequence[RequirementResult],
) -> Iterator[tuple[object, ...]]:
    """The metadata table's rows.

    Args:
        spec: the policy.
        roles: the source's columns.
        names: published names of every quasi column, by alias.
        version: the version's number.
        facts: further facts about the release, as `facts_of` makes them.
        reached: measurements of verify on the released rows.
    """
    privacy = spec.privacy
    privacy_facts: dict[str, object] = {
        "release": spec.name,
        "source": spec.source,
        "types": {reading.name: reading.column.kind for reading in roles.published_order()},
        "collations": {
            reading.name: reading.column.collation
            for reading in roles.published_order()
            if reading.column.kind == "text" and reading.column.collation is not None
        },
        "equal_unlike": [reading.name for reading in roles.published_order() if not reading.column.deterministic],
        "version": version,
        "sqlanon": __version__,
        "token": secrets.token_hex(16),  # two versions never have the same metadata; from neither seed nor secret
    } | _requirements_to_json(privacy)
    if privacy.accuracy is not None:
        privacy_facts |= _bound(privacy, privacy.accuracy, reached)
    if spec.person and spec.persons is not None:
        privacy_facts["persons"] = spec.persons
    yield "", "release", "", spec.format.kind, "", json.dumps({**privacy_facts, **facts}), None
    for reading in roles.published_order():
        declared = None
        published = [reading.name]
        if reading.alias in names:
            published = list(names[reading.alias].list_columns())
            hierarchy = reading.spec.hierarchy
            if isinstance(hierarchy, Rule):
                declared = json.dumps({"rule": rules.write_rule(hierarchy)})
            elif isinstance(hierarchy, Hierarchy) and reading.treatment == "hierarchy":
                tree = as_tree(hierarchy)
                nodes = {
                    (level, int(tree.node[level][i]), int(tree.leaves[level][i]), tree.label[level][i])
                    for level in range(len(tree.node))
                    for i in range(len(tree.label[level]))
                }
                declared = json.dumps({"leaves": tree.label[0], "nodes": sorted(nodes)})
            elif isinstance(reading.spec.ordered, tuple):
                declared = json.dumps({"order": list(reading.spec.ordered)})
        if reading.spec.recode is not None:
            declared = json.dumps(json.loads(declared or "{}") | {"recode": reading.spec.recode.to_metadata()})
        yield (
            reading.name,
            reading.spec.role,
            reading.treatment or "",
            spec.format.kind if reading.alias in names else "",
            reading.column.shown_type,
            json.dumps(published),
            declared,
        )


def facts_of(recoded: RecodedClasses, view: str) -> dict[str, object]:
    """Facts about a release that the rows do not show; ``view`` is the public view's name."""
    facts: dict[str, object] = {}
    if recoded.left_out:
        facts["left_out"] = recoded.left_out
    facts |= recoded.members.facts
    if recoded.attained:
        facts["attained"] = list(recoded.attained)
    if recoded.starred_rows:
        facts["starred"] = recoded.starred_rows
    if recoded.sensitive:
        facts |= {
            "presence": "disclosed",
            "sensitive_view": f"{view}{SENSITIVE}",
            "sensitive_columns": [column.name for column in recoded.sensitive],
            "group_column": GROUP,
        }
    return facts


def _requirements_to_json(privacy: PrivacySpec) -> dict[str, object]:
    """The values of requirements as JSON; None for nothing.

    Of those in `PrivacySpec.more` it has the requested ones.
    """
    values = {key: privacy.value(key) for key in REQUIREMENTS if key not in privacy.more}
    return {
        key: value
        for key, value in write_requirements(values | dict(privacy.more)).items()
        if value is not None or key in OWN
    }


def _bound(privacy: PrivacySpec, accuracy: Accuracy, reached: Sequence[RequirementResult]) -> dict[str, object]:
    """Bounds and maximized requirement of the policy, and the reached privacy; any reader can count it in the view."""
    return {
        "maximize": accuracy.maximize,
        "at_least": {
            name: value
            for name, value in _requirements_to_json(privacy).items()
            if value is not None and value != REQUIREMENTS[name].nothing
        },
        "max_loss": str(accuracy.per_class_ncp) if accuracy.per_class_ncp is not None else None,
        "max_extent": {name: str(extent) for name, extent in accuracy.extents},
        "reached": [{"name": result.name, "column": result.column, "reached": result.reached} for result in reached],
    }


def find_shown_version(engine: Engine, release: str, view: TableRef) -> int | None:
    """The version that the metadata view of a release's view shows, or None if it cannot be read."""
    table = TableRef(view.schema, metadata_name(view.name), view.database)
    try:
        rows = engine.fetch(statement("catalog/version", engine.dialect, {"column": ""}, metadata=table))
    except LockedError:
        raise
    except DatabaseError:
        return None
    facts = json.loads(str(rows[0][0])) if rows else {}
    return int(facts["version"]) if facts.get("release") == release else None
