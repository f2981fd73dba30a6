"""Metadata of noisy statistics for readers: declarations and costs."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterable, Sequence
from fractions import Fraction

from sqlanon._version import __version__
from sqlanon.engines.base import Column, Row
from sqlanon.noisy.bounding_effect import describe_held
from sqlanon.noisy.levels import Dimension, decimal_text, dimension_of_ends, dimension_of_paths
from sqlanon.noisy.nights import FIXED, spread_of
from sqlanon.noisy.published_values import INTERVAL, scale_noise
from sqlanon.noisy.shape import Shape
from sqlanon.noisy.split import STEP, Noise
from sqlanon.noisy_spec import NoisyMeasure
from sqlanon.results import RunReport, SyntheticReport
from sqlanon.spec import ReleaseSpec


def metadata_rows(
    spec: ReleaseSpec, shape: Shape, noise: Noise, report: RunReport, columns: Sequence[Column]
) -> Iterable[tuple[object, ...]]:
    """The metadata of the view: declarations and costs. No time, no row count, no result of the verification.

    Args:
        spec: the release.
        shape: the measurements.
        noise: the noise of the release.
        report: report of the run.
        columns: those of the source, for their types, by which readers write conditions.
    """
    declared, noisy_report = shape.spec, report.noisy
    assert noisy_report is not None
    scales = [
        {
            "table": shape.tables[series.table].name,
            "level": series.level,
            "measure": declared.measures[series.measure].name,
            "of": series.part,
            "l1": series.l1,
            "l2_squared": series.l2,
            "scale": decimal_text(scale / series.steps),
        }
        for series, scale in zip(shape.series, _scales(shape, noise, noisy_report.night), strict=True)
        if series.measure is not None
    ]
    by_name = {column.name.lower(): column for column in columns}
    facts = {
        "release": spec.name,
        "source": spec.source,
        "version": report.version,
        "sqlanon": __version__,
        "token": secrets.token_hex(16),
        "types": {group.name: by_name[group.name.lower()].kind for group in shape.groups},
        "collations": {group.name: by_name[group.name.lower()].collation for group in shape.groups},
        "equal_unlike": [group.name for group in shape.groups if not by_name[group.name.lower()].deterministic],
        "statistics": {
            "budget": declared.budget.name,
            "epsilon": noisy_report.epsilon,
            "delta": noisy_report.delta,
            "unit": "a person and all its rows, added or removed",
            "noise": noise.law,
            "interval": INTERVAL,
            "contributions": (
                {"groups": declared.groups, "rows": declared.rows}
                if declared.weight is None
                else {"weight": declared.weight}
            ),
            "kept": noisy_report.kept,
            "tables": [{"name": table.name, "by": list(table.by), "totals": table.totals} for table in declared.tables],
            "measures": [
                {
                    "name": measure.name,
                    "of": measure.quantity,
                    "column": measure.column or None,
                    "range": [decimal_text(measure.low), decimal_text(measure.high)] if measure.column else None,
                    "unit": decimal_text(measure.unit) if measure.column else None,
                    "before_bounding": describe_held(measure, scaled=declared.weight is not None),
                    **_of_steps(measure),
                }
                for measure in declared.measures
            ],
            "scales": scales,
            **_of_nights(shape, noisy_report.night),
        },
    }
    if noisy_report.synthetic is not None:
        facts["synthetic"] = _of_rows(noisy_report.synthetic, shape)
    yield "", "release", "", "statistics", "", json.dumps(facts), None
    for dimension in shape.groups:
        kind = "hierarchy" if len(dimension.nodes) > 1 else "nominal"
        yield (
            dimension.name,
            "dimension",
            kind,
            "statistics",
            by_name[dimension.name.lower()].shown_type,
            json.dumps([dimension.name]),
            json.dumps(_describe_groups(dimension)),
        )
    for measure in declared.measures:
        yield measure.name, "measure", measure.quantity, "statistics", "", json.dumps(measure.columns), None


def _scales(shape: Shape, noise: Noise, night: int | None) -> Sequence[Fraction]:
    """The scale of the noise in the published numbers; of running counts that of tonight's, from all nights."""
    factor = shape.factor
    if factor is None or night is None:
        return noise.scales
    return [
        Fraction(math.ceil(scale * STEP), STEP) for scale in scale_noise(noise, spread_of(factor.running, night)).scales
    ]


def _of_nights(shape: Shape, night: int | None) -> dict[str, object]:
    """Of running counts the nights, and what is measured in each of them."""
    factor = shape.factor
    if factor is None:
        return {}
    return {"running": {"night": night, "nights": shape.spec.nights, "squares": factor.squares, "parts": FIXED}}


def read_dimension(row: Row) -> Dimension:
    """A column of groups, by the row of the metadata that declares it."""
    name, declared = str(row[0]), json.loads(str(row[6]))
    if "ends" in declared:
        return dimension_of_ends(name, tuple(map(Fraction, declared["ends"])))
    return dimension_of_paths(name, [tuple(path) for path in declared["paths"]])


def _of_rows(synthetic: SyntheticReport, shape: Shape) -> dict[str, object]:
    """What readers must know of synthetic rows: they are nobody's, and how far they may be from the counted ones."""
    of_rows = shape.spec.of_rows
    assert of_rows is not None
    figures = zip(of_rows.tables, synthetic.apart, synthetic.most, strict=True)
    return {
        "view": synthetic.view.rpartition(".")[2],
        "rows_are": "synthetic: drawn of the noisy tables alone; no row is a person's",
        "rows": synthetic.rows,
        "target": synthetic.target,
        "pairs": [list(pair) for pair in synthetic.pairs],
        "pairs_by": "a paid measurement" if synthetic.chosen else "declaration",
        "bins": of_rows.bins,
        "errors": [
            {"table": table.name, "from_noisy_numbers": apart, "from_counted_rows_at_most": most}
            for table, apart, most in figures
        ],
        "errors_are": f"mean difference of a group; at most: with probability {INTERVAL}",
        "errors_of_other_combinations": "unknown",
    }


def _of_steps(measure: NoisyMeasure) -> dict[str, object]:
    """The published quantiles, and the ends of the steps in which rows are counted."""
    if measure.quantity != "quantiles":
        return {}
    shares, ends = map(decimal_text, measure.quantiles), map(decimal_text, measure.ends)
    return {"quantiles": list(shares), "ends": list(ends)}


def _describe_groups(dimension: Dimension) -> dict[str, object]:
    """The groups of a column, as the policy declares them."""
    if dimension.values is None:
        return {"ends": [decimal_text(end) for end in dimension.ends]}
    nodes = [[names[number] for number in of_leaf.tolist()] for of_leaf, names in dimension.nodes]
    return {"paths": [list(path) for path in zip(*nodes, strict=True)]}
