"""Figures of a version as JSON, and the schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.results import RunReport
from sqlanon.results.measured_risk import TITLES, read_measured_risk

FORMAT = "sqlanon-figures/1"


def list_figures(release: str, version: int, policy: Mapping[str, Any], run: RunReport) -> dict[str, Any]:
    """The figures of a version, from its report in the catalog alone."""
    risk = read_measured_risk(run).to_dict()
    return {
        "format": FORMAT,
        "release": release,
        "version": version,
        "rows": run.published_rows - run.left_out,
        "left_out": run.left_out,
        "suppressed": run.suppressed,
        "classes": run.classes,
        "smallest": run.min_class,
        "largest": run.max_class,
        "risk": {key: risk[key] for key in TITLES},
        "as_they_are": list(risk["as_they_are"]),
        "threshold": policy.get("threshold"),
        "requirements": [
            {
                "name": requirement.name,
                "column": requirement.column,
                "asked": requirement.asked,
                "reached": requirement.reached,
                "satisfied": requirement.satisfied,
            }
            for requirement in run.requirements
        ],
        "loss": {"gcp": run.gcp, "columns": {name: dict(values) for name, values in run.loss.columns.items()}},
        "counts": run.statistics and run.statistics.to_dict(),
        "method": run.method,
        "publication_format": run.format,
    }


def figures_for(audience: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a bundle: readers get none of rows that they do not see, and none that grows with small cells."""
    if audience != "readers":
        return dict(figures)
    shown = {key: value for key, value in figures.items() if key not in ("left_out", "suppressed")}
    if shown["counts"]:
        shown["counts"] = {key: value for key, value in shown["counts"].items() if key != "witnesses"}
    return shown


def _probability(text: str) -> dict[str, Any]:
    return {"type": ["number", "null"], "minimum": 0, "maximum": 1, "description": text}


def _count(text: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": text}


_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}

SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Figures of a version of a release",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "format": {"const": FORMAT},
        "release": _TEXT,
        "version": {"type": "integer", "minimum": 1},
        "rows": _count("Published rows."),
        "left_out": _count("Rows of the source that are not published; not for readers."),
        "suppressed": _count("Rows that lose all their quasi values, with those left out; not for readers."),
        "classes": _count("Groups of rows that look alike in the quasi columns."),
        "smallest": _count("Rows of the smallest class."),
        "largest": _count("Rows of the largest class."),
        "risk": {
            "type": "object",
            "additionalProperties": False,
            "properties": {key: _probability(f"{title}; null: not measured.") for key, title in TITLES.items()},
            "required": list(TITLES),
        },
        "as_they_are": {"type": "array", "items": _TEXT, "description": "Columns that are published as they are."},
        "threshold": {"type": ["object", "null"], "description": "The accepted risk, as the policy has it."},
        "requirements": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "name": _TEXT,
                    "column": {"type": ["string", "null"]},
                    "asked": _NUMBER,
                    "reached": _NUMBER,
                    "satisfied": {"type": "boolean"},
                },
                "required": ["name", "column", "asked", "reached", "satisfied"],
            },
        },
        "loss": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"gcp": _NUMBER, "columns": {"type": "object", "additionalProperties": {"type": "object"}}},
            "required": ["gcp", "columns"],
        },
        "counts": {
            "type": ["object", "null"],
            "description": "Of a release of counts: cells, and what was hidden; for readers without witnesses.",
        },
        "method": _TEXT,
        "publication_format": _TEXT,
    },
}
"""JSON Schema of `list_figures`; each bundle has it."""
