"""The metadata of a release of counts, which readers see beside the view."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence

from sqlanon._version import __version__
from sqlanon.column_spec import Hierarchy
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.statistics.shape import Shape
from sqlanon.statistics_spec import SumMeasure
from sqlanon.table.reading import Reading


def metadata_rows(
    spec: ReleaseSpec, shape: Shape, readings: Sequence[Reading], report: RunReport, protected: Mapping[str, object]
) -> Iterable[tuple[object, ...]]:
    """The metadata of the view: rules and columns; nothing of the data but counts of the view's own rows."""
    statistics, counts = spec.statistics, report.statistics
    assert statistics is not None
    assert counts is not None
    facts = {
        "release": spec.name,
        "source": spec.source,
        "version": report.version,
        "sqlanon": __version__,
        "token": secrets.token_hex(16),
        "types": {reading.name: reading.column.kind for reading in readings},
        "collations": {
            reading.name: reading.column.collation
            for reading in readings
            if reading.column.kind == "text" and reading.column.collation is not None
        },
        "equal_unlike": [reading.name for reading in readings if not reading.column.deterministic],
        "statistics": {
            "persons": statistics.threshold,
            "zeros": "shown",
            "method": statistics.method,
            **protected,
            "tables": [{"name": table.name, "by": list(table.by)} for table in statistics.tables],
            "measures": dict(statistics.measures),
            **({"sums": {summed.name: _describe_sum(summed) for summed in statistics.sums}} if statistics.sums else {}),
            "shown": counts.shown,
            "hidden": counts.hidden,
            **({"together": list(statistics.together)} if statistics.together else {}),
            **({"versions": list(counts.batches)} if counts.batches else {}),
            **({"patterns": True} if counts.patterns else {}),
            **({"earlier": list(counts.earlier)} if counts.earlier else {}),
            "person": list(spec.person),
            **({"null_person": spec.null_person} if spec.null_person else {}),
        },
    }
    yield "", "release", "", "statistics", "", json.dumps(facts), None
    for column, reading in zip(shape.columns, readings, strict=True):
        published = json.dumps([column.name, column.level])
        kind, paths = "nominal", []
        if isinstance(reading.spec.hierarchy, Hierarchy):
            kind, paths = "hierarchy", [list(path[: column.levels]) for path in reading.spec.hierarchy.levels]
        declared = json.dumps({"levels": column.levels, "paths": paths})
        yield column.name, "dimension", kind, "statistics", reading.column.shown_type, published, declared
    for name, kind in statistics.measures:
        yield name, "measure", kind, "statistics", "", json.dumps([name]), None
    for summed in shape.sums:
        declared = json.dumps({"scale": summed.scale, "low": summed.low, "high": summed.high})
        yield summed.name, "measure", "sum", "statistics", "", json.dumps([summed.name]), declared


def _describe_sum(measure: SumMeasure) -> dict[str, object]:
    """The rules of a sum, for readers."""
    rules: dict[str, object] = {
        "column": measure.column,
        "range": [measure.low, measure.high],
        "p_percent": measure.percent / 100,
    }
    if measure.share:
        rules["dominance"] = {"n": measure.dominant, "share": measure.share / 10_000}
    return rules
