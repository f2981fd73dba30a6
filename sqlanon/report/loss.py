"""Loss of a release against its source, by column and by metric, as measured when the version was made."""

from __future__ import annotations

from sqlanon.declared import METRICS
from sqlanon.report.document import Block, Picture, Section, Text, make_table
from sqlanon.report.pictures import draw_bars
from sqlanon.results import LossReport, RunReport
from sqlanon.results.figures import count, measure

READING = (
    (
        "NCP",
        (
            "The part of the column's range that a value may now lie in, on average over rows: 0 is the exact value, "
            "1 is any value."
        ),
    ),
    ("LM", "The same, where the most detailed value counts 0: Iyengar's loss metric."),
    (
        "GCP",
        "NCP of all columns together, by the weights of the policy: the figure to compare versions of one release by.",
    ),
    ("DM", "Sum of squared class sizes. Only the sizes of classes count, whatever the values; smaller is finer."),
    ("C_AVG", "Average class size in units of k: 1 is as fine as k allows."),
)


def report_loss(run: RunReport) -> Section:
    """The loss of every quasi column, then the metrics of the release."""
    loss = run.loss
    blocks: list[Block] = []
    if loss.rce is not None:
        blocks.append(
            Text(
                "The columns that could identify somebody are published exactly. What is lost is which row of a group "
                f"has which sensitive value: RCE {measure(_round(loss.rce))}, {_write(loss.rce / max(run.rows, 1))} a "
                "row (0: all known, 1: all lost)."
            )
        )
    elif loss.columns:
        blocks.append(_columns(loss))
    blocks.append(make_table("Metrics of the release", "metric | >value | what it measures", _metrics(run)))
    for column, values in loss.sensitive.items():
        rows = [(name, _write(value), _about(name)) for name, value in values.items()]
        blocks.append(make_table(f"Metrics about {column}", "metric | >value | what it measures", rows))
    return Section(
        "loss",
        "What was lost",
        "The price of the protection: how much detail the release has less than the source. Loss says nothing about "
        "privacy.",
        tuple(blocks),
        READING,
    )


def _columns(loss: LossReport) -> Picture:
    hidden = any("hidden" in values for values in loss.columns.values())
    rows = [
        (name, _write(values["ncp"]), _write(values["lm"]), *([_write(values.get("hidden", 0.0))] if hidden else []))
        for name, values in loss.columns.items()
    ]
    rows.append(("all, weighted", _write(loss.gcp), _write(loss.lm), *([""] if hidden else [])))
    most = max(loss.columns, key=lambda name: loss.columns[name]["ncp"])
    text = (
        f"{most} loses most, NCP {_write(loss.columns[most]['ncp'])}; all columns together lose {_write(loss.gcp)} (0: "
        "exact, 1: all lost)."
    )
    values = [(name, _round(column["ncp"])) for name, column in loss.columns.items()]
    head = f"column | >NCP | >LM{' | >hidden' if hidden else ''}"
    return Picture(
        "Loss by column", text, draw_bars(values, "", "NCP"), make_table("Loss by column, 0 to 1", head, rows)
    )


def _metrics(run: RunReport) -> list[tuple[str, ...]]:
    loss = run.loss
    names = (
        "gcp",
        "ncp",
        "lm",
        "dm",
        "c_avg",
        "il1",
        "il_inf",
        "il_sum",
        "weighted_max_ncp",
        "avg_ncp",
        "weighted_avg_volume",
        "cm",
    )
    rows: list[tuple[str, ...]] = []
    for name in names:
        value = getattr(loss, name)
        # Where the columns are exact, only what the sizes of classes say is of interest.
        if value is not None and (loss.rce is None or name in ("dm", "c_avg", "cm")):
            rows.append((_title(name), _write(value), _about(name)))
    rows += [
        (title, count(value), about)
        for title, value, about in (
            ("stars", loss.stars, "Hidden values."),
            ("starred rows", loss.starred_rows, "Rows with a hidden value."),
            ("hidden rows", loss.hidden_rows, "Rows all of whose values are hidden."),
        )
        if value is not None
    ]
    rows += [(name, _write(value), _about(name)) for name, value in loss.more.items()]
    if run.suppressed:
        rows.append(
            ("suppressed rows", count(run.suppressed), "Rows that lose all values of the columns that could identify.")
        )
        rows.append(("of them left out", count(run.left_out), "Rows that are not published at all."))
    return rows


def _title(name: str) -> str:
    return name.upper() if name in ("gcp", "ncp", "lm", "dm", "c_avg", "cm") else name


def _about(name: str) -> str:
    return METRICS[name].about if name in METRICS else ""


def _round(value: float) -> float:
    """Without the last digits of a sum, which may depend on its order."""
    return float(f"{value:.10g}")


def _write(value: float) -> str:
    value = _round(value)
    return f"{value:.4f}" if abs(value) <= 1 else measure(value)
