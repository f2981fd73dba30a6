"""What readers get to know of noisy statistics: what is declared and paid."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable

from sqlanon._version import __version__
from sqlanon.noisy.published import INTERVAL
from sqlanon.noisy.shape import Shape, decimal_text
from sqlanon.noisy.split import Noise
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec


def metadata_rows(spec: ReleaseSpec, shape: Shape, noise: Noise, report: RunReport) -> Iterable[tuple[object, ...]]:
    """The metadata of the view: what is declared and paid. No time, no row count, nothing that verification found."""
    asked, counted = spec.noisy, report.noisy
    assert asked is not None
    assert counted is not None
    scales = [
        {
            "table": shape.tables[one.table].name,
            "level": one.level,
            "measure": asked.measures[one.measure].name,
            "of": one.part,
            "l1": one.l1,
            "l2_squared": one.l2,
            "scale": decimal_text(scale),
        }
        for one, scale in zip(shape.series, noise.scales, strict=True)
        if one.measure is not None
    ]
    said = {
        "release": spec.name,
        "source": spec.source,
        "version": report.version,
        "sqlanon": __version__,
        "token": secrets.token_hex(16),
        "statistics": {
            "budget": asked.budget.name,
            "epsilon": counted.epsilon,
            "delta": counted.delta,
            "unit": "a person and all its rows, added or removed",
            "noise": noise.law,
            "interval": INTERVAL,
            "contributions": {"groups": asked.groups, "rows": asked.rows},
            "kept": counted.kept,
            "tables": [{"name": table.name, "by": list(table.by), "totals": table.totals} for table in asked.tables],
            "measures": [
                {
                    "name": one.name,
                    "of": one.quantity,
                    "column": one.column or None,
                    "range": [decimal_text(one.low), decimal_text(one.high)] if one.column else None,
                    "unit": decimal_text(one.unit) if one.column else None,
                }
                for one in asked.measures
            ],
            "scales": scales,
        },
    }
    yield "", "release", "", "statistics", "", json.dumps(said), None
    for dimension in shape.dimensions:
        kind = "hierarchy" if len(dimension.nodes) > 1 else "nominal"
        yield dimension.name, "dimension", kind, "statistics", "", json.dumps([dimension.name]), None
    for one in asked.measures:
        yield one.name, "measure", one.quantity, "statistics", "", json.dumps([one.name]), None
