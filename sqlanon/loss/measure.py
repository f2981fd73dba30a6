"""The metrics that every run measures, exactly as the papers define them, in one scan of the boxes.

A class is a group for readers, all rows of equal released values: so the papers count (LeFevre et al., section 1.1;
Ghinita et al., definition 3). In format ``ranges`` that is one box; where another format publishes several boxes alike,
the class's NCP, LM and volume are means over the rows, but `LargestExtent` looks at each box, for a bound holds for
each.

Per class G and attribute i, NCP_i(G) is for numbers (max - min) / (range of the domain), for a hierarchy node or a
nominal set u 0 if |u| = 1 and |u| / |A| else; a constant attribute scores 0, a class with some NULLs 1, one of NULLs
only 0 (Xu et al. 2006; Ghinita et al. 2009, section 2.1). NCP(G) = sum w_i NCP_i(G) / sum w_i (equation 1), in 0 to 1,
is also the class's extent, which the paper's one-dimensional IL metrics take unscaled. LM_i uses (|u| - 1) / (|A| - 1)
instead (Iyengar 2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from sqlanon.declared import METRICS, MetricDeclaration, list_metrics
from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import number
from sqlanon.errors import PolicyError
from sqlanon.loss.base import AskedMetric, Attribute, Metric
from sqlanon.loss.facts import Facts
from sqlanon.loss.values import Groups, LostRows
from sqlanon.results import LossReport
from sqlanon.table.scratch import Scratch


def import_metric(declared: MetricDeclaration) -> Any:  # noqa: ANN401 - a `Metric` or an `AskedMetric`
    """Import and construct the metric of a declaration."""
    code = declared.code
    if isinstance(code, str):
        module, _, name = code.partition(":")
        code = getattr(import_module(module), name)
    return code() if isinstance(code, type) else code


def measure(
    scratch: Scratch, boxes: TableRef, groups: Groups, attributes: Sequence[Attribute], k: int | None, lost: LostRows
) -> LossReport:
    """The metrics of a release that need not be asked for, in one scan of the boxes.

    Args:
        scratch: the run.
        boxes: table (class, n, ncp_<code>, lm_<code>).
        groups: which boxes publish the same.
        attributes: the quasi columns.
        k: the k that was asked; None: none was, and there is no C_AVG.
        lost: rows of the source that are not published, or starred. Each has lost everything: NCP, LM and volume
            are 1, and it is as any other row of the source (DM). The boxes of the starred class say so themselves but
            for DM; rows that are left out count as one class more.

    Raises:
        PolicyError: a metric of an extension calls an aggregate by the name of a different aggregate.
    """
    columns_wanted: dict[str, str] = {}
    metrics: dict[str, Metric] = {
        name: import_metric(declared) for name, declared in METRICS.items() if not declared.asked
    }
    for name, metric in metrics.items():
        for alias, sql in metric.aggregates(attributes).items():
            if columns_wanted.setdefault(alias, sql) != sql:
                raise PolicyError(f"metric {name}: {alias} is another aggregate already; choose another alias")
    row = scratch.fetch(
        "loss/scan",
        boxes=boxes,
        groups=groups,
        columns=[
            {"code": a.code, "weight": a.weight, "size": max(a.size, 1), "lm": "ncp" if a.ordered else "lm"}
            for a in attributes
        ],
        weights=sum(a.weight for a in attributes),
        aggregates=[{"alias": alias, "sql": sql} for alias, sql in columns_wanted.items()],
        starred=lost.starred,
        left_out=lost.left_out,
        ordered=scratch.few,
    )[0]
    values = {alias: 0.0 if cell is None else number(cell) for alias, cell in zip(columns_wanted, row, strict=True)}
    rows = values["n_rows"]
    values["squares"] += lost.suppressed * rows
    finished = {name: metric.finish(values, attributes, k or 1) for name, metric in metrics.items()}
    own_names = {declared.name for declared in METRICS.own}
    named_values: dict[str, Any] = {name: value for name, value in finished.items() if name in own_names}
    report = LossReport(
        **named_values,
        columns={
            a.name: {"ncp": values[f"ncp_{a.code}"] / rows, "lm": values[f"lm_{a.code}"] / rows} for a in attributes
        },
        more={name: value for name, value in finished.items() if name not in own_names},
    )
    return report if k else replace(report, c_avg=None)


def measure_asked(facts: Facts, words: Sequence[str], report: LossReport) -> LossReport:
    """The report with the metrics that a policy asks for.

    Args:
        facts: of the release and the source.
        words: the policy's `metrics`.
        report: the loss as it is known.

    Cost: that of the facts which these metrics read, see `Facts`.
    """
    names = list_metrics(words, sensitive=bool(facts.sensitive))
    more, by_column = dict(report.more), {name: dict(of) for name, of in report.sensitive.items()}
    for name in names:
        metric: AskedMetric = import_metric(METRICS[name])
        if not METRICS[name].sensitive:
            more[name] = metric.of(facts, None)
            continue
        for value in facts.values:
            by_column.setdefault(value.name, {})[name] = metric.of(facts, value)
    return replace(report, more=more, sensitive=by_column)
