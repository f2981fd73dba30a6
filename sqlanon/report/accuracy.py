"""Accuracy of a release's answers to the queries of a workload, as `evaluate` measures it."""

from __future__ import annotations

import math

from sqlanon.evaluate.report import Evaluation, Family, QueryResult
from sqlanon.report.document import Block, Picture, Section, Text, make_table
from sqlanon.report.pictures import draw_estimates
from sqlanon.results.figures import count, measure, share

MOST_QUERIES = 50
"""Queries that are shown one by one."""
MOST_POINTS = 400
"""Answers that are drawn, evenly over their order."""
READING = (
    ("truth, estimate", "What the query gives on the source, and what readers get from the release."),
    (
        "in bounds",
        (
            "Answers whose truth lies between the bounds that readers get with them. All must; else the source has "
            "changed."
        ),
    ),
    (
        "relative error",
        (
            "How far an estimate is from the truth, as a share of the truth; the mean, the median, and what 95 % do "
            "not exceed."
        ),
    ),
    ("width", "How far the bounds are from each other, as a share of the truth: what readers can be sure of."),
    (
        "KLD",
        (
            "How far the release's distribution is from the source's, 0: the same. Infinite: the release expects "
            "nobody where somebody is."
        ),
    ),
)


def report_accuracy(evaluation: Evaluation) -> Section:
    """Errors by family of queries, the queries of the file, and divergences."""
    blocks: list[Block] = []
    if evaluation.queries:
        blocks.append(_families(evaluation))
    shown_queries = [query for query in evaluation.queries if query.family == "queries"]
    if shown_queries:
        blocks.append(_single(shown_queries[:MOST_QUERIES]))
    if len(shown_queries) > MOST_QUERIES:
        blocks.append(Text(f"{count(len(shown_queries))} queries in all; `sqlanon evaluate --json` has every one."))
    if evaluation.total.lost:
        blocks.append(
            Text(f"{count(evaluation.total.lost)} groups of the source are not named by the release's answers.")
        )
    if not evaluation.sound:
        missed = evaluation.total.errors.cells - evaluation.total.errors.inside
        text = (
            f"{count(missed)} of {count(evaluation.total.errors.cells)} truths lie outside of their bounds: the source "
            "has changed since."
        )
        blocks.append(Text(text, warning=True))
    if evaluation.cubes:
        rows = [
            (cube.name, cube.sensitive or "-", count(len(cube.group_bys)), _kld(cube.kld), count(cube.missed))
            for cube in evaluation.cubes
        ]
        head = "distribution | of | >group-bys | >KLD | >cells where nobody is expected"
        blocks.append(make_table("Divergence of the distributions", head, rows))
    return Section(
        "accuracy",
        "Accuracy of queries",
        "Each query of the workload is asked of the source and of the release.",
        tuple(blocks),
        READING,
    )


def _families(evaluation: Evaluation) -> Picture | Block:
    families = [*evaluation.families, *([evaluation.total] if len(evaluation.families) > 1 else [])]
    head = "queries | >answers | >in bounds | >relative error | >median | >95 % | >width"
    figures = make_table("Errors", head, [_family(family) for family in families])
    points = sorted(
        (
            cell.truth,
            cell.estimate,
            cell.estimate if cell.low is None else cell.low,
            cell.estimate if cell.high is None else cell.high,
        )
        for cells in evaluation.cells.values()
        for cell in cells
        if cell.truth is not None and cell.estimate is not None
    )
    if not points:
        return figures
    step = math.ceil(len(points) / MOST_POINTS)
    rounded = [tuple(float(f"{value:.7g}") for value in point) for point in points[::step]]
    total = evaluation.total.errors
    text = (
        f"{count(len(rounded))} of {count(total.cells)} answers: each point is an estimate over the truth, each line "
        f"its bounds; on the diagonal they agree. Median relative error {_percent(total.relative.median)}; "
        f"{share(total.inside, total.cells)} of the truths lie in their bounds."
    )
    return Picture("Estimates and bounds over the truth", text, draw_estimates(rounded), figures)


def _family(family: Family) -> tuple[str, ...]:
    relative = family.errors.relative
    return (
        f"{family.name} ({count(family.queries)})",
        count(family.errors.cells),
        share(family.errors.inside, family.errors.cells),
        _percent(relative.mean),
        _percent(relative.median),
        _percent(relative.p95),
        _percent(family.errors.relative_width.mean),
    )


def _single(queries: list[QueryResult]) -> Block:
    rows: list[tuple[str, ...]] = []
    for query in queries:
        name = query.query if query.aggregate in ("", "n", "count") else f"{query.query}: {query.aggregate}"
        if query.refused:
            rows.append((name, "", "no answer", "", "", "", ""))
            continue
        inside = "yes" if query.errors.inside == query.errors.cells else "NO"
        if query.groups == 1:
            shown = tuple(_format(value) for value in (query.truth, query.estimate, query.low, query.high))
        else:
            name, shown = f"{name} ({count(query.groups)} groups)", ("", "", "", "")
        rows.append((name, *shown, _percent(query.errors.relative.mean), inside))
    failed = frozenset(index for index, row in enumerate(rows) if row[-1] == "NO")
    head = "query | >truth | >estimate | >low | >high | >relative error | in bounds"
    return make_table("Queries of the workload", head, rows, failed)


def _format(value: float | None) -> str:
    return "-" if value is None else measure(float(f"{value:.10g}"))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * float(f'{value:.10g}'):.3g} %"


def _kld(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{float(f'{value:.8g}'):.4g}"
