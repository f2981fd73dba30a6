"""The policy of a version, as the catalog keeps it: lists of values are hashes there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.report.document import Section, Table, make_table
from sqlanon.results.figures import count

ROLES = (
    ("identifier", "Names a person. Never published."),
    ("pseudonym", "Says whose row it is. Published as a token, a keyed hash that joins tables."),
    ("quasi", "May identify somebody together with other columns. Published in less detail."),
    ("sensitive", "What must not be learnt of a person. Published as it is, protected by the requirements."),
    ("insensitive", "Published as it is, without protection: it must identify nobody and harm nobody."),
)


def report_settings(policy: Mapping[str, Any], policy_hash: str) -> Section:
    """Roles of the columns, and all other keys that are set."""
    rows = [(path, shown) for key, value in policy.items() if key != "columns" for path, shown in _lines(key, value)]
    return Section(
        "policy",
        "The policy",
        "The settings that this version was made by, as the catalog keeps them: lists of values are replaced by "
        f"hashes, and the seed is left out. SHA-256 of the policy: {policy_hash}.",
        (_columns(policy.get("columns", ())), make_table("Other settings", "key | value", rows)),
        ROLES,
    )


def _columns(columns: Any) -> Table:  # noqa: ANN401 - JSON
    rows = []
    for column in columns:
        more = {
            key: value for key, value in column.items() if key not in ("name", "role") and (key, value) != ("weight", 1)
        }
        rows.append(
            (
                str(column["name"]),
                str(column["role"]),
                "; ".join(f"{path} {shown}" for key in more for path, shown in _lines(key, more[key])),
            )
        )
    return make_table("Columns", "column | role | settings", rows)


def _lines(path: str, value: object) -> list[tuple[str, str]]:
    """A value of a policy as lines of text, without keys that are not set."""
    if isinstance(value, Mapping):
        if set(value) == {"values", "sha256"}:
            return [(path, f"{count(int(value['values']))} values, SHA-256 {value['sha256']}")]
        return [line for key, item in value.items() for line in _lines(f"{path}.{key}", item)]
    if isinstance(value, list):
        if any(isinstance(item, Mapping) for item in value):
            return [line for index, item in enumerate(value) for line in _lines(f"{path}[{index}]", item)]
        return [(path, ", ".join(map(str, value)))] if value else []
    return [] if value in (None, "", False) else [(path, "yes" if value is True else str(value))]
