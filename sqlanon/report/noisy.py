"""The report of noisy statistics: promise, noise of the numbers, and price paid for them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.evaluate.report import Evaluation
from sqlanon.evaluate.run import evaluate
from sqlanon.noisy.published_values import INTERVAL, width_of
from sqlanon.noisy.split import deviation_of
from sqlanon.progress import Progress
from sqlanon.query.find import find
from sqlanon.query.noisy.release import ReleasedNoisy
from sqlanon.release.budget.report import describe_budget
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import spell_table
from sqlanon.report.document import Facts, Page, Section, Text, make_table
from sqlanon.report.settings import report_settings
from sqlanon.results.budget import BudgetReport
from sqlanon.results.figures import count, share
from sqlanon.workload_spec import WorkloadSpec

READING = (
    (
        "epsilon",
        "Whether one person is in the data or not changes the odds of whatever readers see by at most e^epsilon.",
    ),
    ("delta", "With this probability the promise may fail."),
    (
        "noise",
        "Of one number of the finest groups: its standard deviation, and what it does not exceed 19 times in 20.",
    ),
    (
        "error",
        "The mean difference between a published count and the source's: of noise, and of rows that bounding cuts.",
    ),
)


def noisy_report(engine: Engine, entry: Entry, workload: WorkloadSpec | None, progress: Progress) -> Page:
    """The owner's report of a published version of noisy statistics.

    Args:
        engine: the database of the source, with the rights of the owner.
        entry: the version.
        workload: queries that are measured in place of the groups.
        progress: gets the parts.

    Cost: that of `sqlanon.evaluate.noisy.evaluate_noisy`.
    """
    promise = entry.report["noisy"]
    budget = describe_budget(engine, str(promise["budget"]))
    sections = [_promise(promise, budget)]
    if entry.view is not None:
        progress.stage(entry.release, "queries")
        released = find(engine, spell_table(entry.view))
        assert isinstance(released, ReleasedNoisy)
        sections += [_noise(released), _report_bounding(released)]
        sections += _synthetic(_facts_of(released))
        if workload is not None or any(measured.of == "rows" for measured in released.measures):
            sections.append(_accuracy(evaluate(engine, entry.release, workload, progress)))
    sections += [_ledger(budget), report_settings(entry.policy, entry.policy_hash)]
    progress.finish(entry.release)
    return Page(
        release=entry.release,
        version=entry.version,
        confidential=True,
        summary=(
            ("published as", str(entry.report["published"])),
            ("made of", entry.source),
            ("published", f"{entry.published_at} by {entry.published_by}, sqlanon {entry.sqlanon}"),
            ("groups", f"{count(promise['groups'])} of {count(promise['tables'])} tables"),
            ("epsilon, delta of this version", f"{promise['epsilon']:g}, {promise['delta']:g}"),
        ),
        sound=True,
        sections=tuple(sections),
        warning="",
    )


def noisy_readers_report(released: ReleasedNoisy) -> Page:
    """The report of noisy statistics for readers, of their metadata alone."""
    facts = _facts_of(released)
    statistics = facts["statistics"]
    place = ".".join(part for part in (released.view.ref.schema, released.view.ref.name) if part)
    text = (
        f"Each number has noise, so that these statistics change the odds about one person by at most "
        f"e^{statistics['epsilon']:g} = {math.exp(statistics['epsilon']):.3g} (but for delta), whatever a reader "
        "already knows; other versions and releases of the same persons add to it."
    )
    return Page(
        release=str(facts["release"]),
        version=int(facts["version"]),
        confidential=False,
        summary=(("view", place), ("made by", f"sqlanon {facts['sqlanon']}")),
        sound=True,
        sections=(
            Section("promise", "What is promised", statistics["unit"].capitalize() + ".", (Text(text),), READING[:2]),
            _noise(released),
            _report_bounding(released),
            *_synthetic(facts),
        ),
        warning="",
    )


def _facts_of(released: ReleasedNoisy) -> dict[str, Any]:
    """The facts about the release as a whole."""
    facts: dict[str, Any] = json.loads(next(str(row[5]) for row in released.metadata if row[0] == ""))
    return facts


def _synthetic(facts: dict[str, Any]) -> list[Section]:
    """The synthetic rows, if there are any."""
    fact = facts.get("synthetic")
    if fact is None:
        return []
    rows = [
        (error["table"], f"{error['from_noisy_numbers']:,.3g}", f"{error['from_counted_rows_at_most']:,.3g}")
        for error in fact["errors"]
    ]
    text = (
        f"{count(fact['rows'])} rows of {fact['view']} are synthetic: they are drawn of the noisy tables alone, cost "
        f"nothing more, and no row is a person's. {fact['pairs_by'].capitalize()} chose the pairs of columns. How far "
        "other combinations of columns are from those of the source is unknown."
    )
    head = "table | >rows from the noisy number | >from the counted rows at most"
    title = "Mean difference of a group; at most: 19 times in 20"
    return [Section("synthetic", "Synthetic rows", text, (make_table(title, head, rows),), ())]


def _promise(promise: dict[str, Any], budget: BudgetReport) -> Section:
    blocks: list[Facts | Text] = [
        Facts(
            (
                ("unit", "a person and all its rows, added or removed"),
                ("budget", budget.name),
                ("epsilon, delta of the budget", f"{budget.epsilon:g}, {budget.delta:g}"),
                ("law of the noise", str(promise["law"])),
                ("kept", "not measured" if promise["kept"] is None else share(round(1000 * promise["kept"]), 1000)),
            )
        ),
        Text(
            f"All versions that the budget pays for, together, change the odds about one person by at most "
            f"e^{budget.epsilon:g} = {math.exp(budget.epsilon):.3g} (but for delta), whatever a reader already knows."
        ),
    ]
    blocks += [
        Text(
            f"{name} publishes rows or counts of the same persons: what it reveals is not bounded by epsilon.",
            warning=True,
        )
        for name in budget.beside
    ]
    return Section(
        "promise",
        "What is promised",
        "The unit is a person, over all tables, releases and versions.",
        tuple(blocks),
        READING,
    )


def _noise(released: ReleasedNoisy) -> Section:
    rows = []
    for table in released.tables:
        finest = max(level for level, _, _ in table.scales)
        for (level, name, of), scale in table.scales.items():
            if level != finest:
                continue
            measured = next(measure for measure in released.measures if measure.name == name)
            unit = 1.0 if of in ("values", "steps") else float(measured.unit) / (2 if of == "centered" else 1)
            deviation = deviation_of(released.law, float(scale))
            width = width_of(released.law, deviation, 1 - INTERVAL)
            what = {"values": f"{name}: number of values", "centered": f"{name}: sum of distances from the middle"}
            what["steps"] = f"{name}: number of rows of a step"
            rows.append((table.name, what.get(of, name), f"{deviation * unit:,.4g}", f"{width * unit:,.4g}"))
    return Section(
        "noise",
        "Noise of the numbers",
        f"{released.law.capitalize()} noise on whole numbers; totals that agree with their parts have less.",
        (
            make_table(
                "Noise of one number of the finest groups", "table | number | >deviation | >19 in 20 below", rows
            ),
        ),
        (READING[2],),
    )


def _report_bounding(released: ReleasedNoisy) -> Section:
    """What the intervals say of the answers before bounding."""
    measures_by_name = {str(measure["name"]): measure for measure in _facts_of(released)["statistics"]["measures"]}
    rows = []
    for measured in released.measures:
        limits = measures_by_name[measured.name].get("before_bounding") or {}
        rows.append((measured.name, *(limits.get(end) or "unknown" for end in ("at_least", "at_most"))))
    text = (
        "Of each person no more is counted than is declared, and the intervals are of what is counted. The answer "
        "before that is at least, or at most, these ends of the interval, each 39 times in 40; how far it is beyond "
        "them no interval can say."
    )
    table = make_table("Before bounding", "number | at least | at most", rows)
    return Section("bounding", "What bounding cuts", text, (table,), ())


def _accuracy(evaluation: Evaluation) -> Section:
    errors_beside = [{family.name: family for family in released.families} for released in evaluation.beside]
    head = " | ".join(
        [
            "counts of",
            ">groups",
            ">in intervals",
            ">error",
            *(f">error of {released.release}" for released in evaluation.beside),
        ]
    )
    rows = []
    for family in evaluation.families:
        cells = (family.name, count(family.errors.cells), share(family.errors.inside, family.errors.cells))
        errors = [family.errors, *(families[family.name].errors for families in errors_beside)]
        rows.append((*cells, *("-" if each.absolute.mean is None else f"{each.absolute.mean:,.4g}" for each in errors)))
    text = (
        "The same counts are asked of the source, of these statistics and of each release of rows of the same source. "
        "No budget pays for these figures: they are for the owner alone, and to choose what is published by them is a "
        "choice by the data."
    )
    return Section("accuracy", "Accuracy of counts", text, (make_table("Errors", head, rows),), (READING[3],))


def _ledger(budget: BudgetReport) -> Section:
    charged = [
        (
            str(version.seq),
            version.release,
            str(version.version),
            version.state,
            f"{version.cost:.4g}",
            version.at,
            version.by,
        )
        for version in budget.versions
    ]
    blocks: Sequence[Any] = (
        Facts((("spent", f"{budget.spent:.4g}"), ("left", f"{budget.left:.4g}"))),
        make_table("Versions", ">row | release | >version | state | >epsilon by itself | charged at | by", charged),
        *(
            Text(f"Raised to {epsilon:g} on {moment} by {who}: {because}", warning=True)
            for moment, who, epsilon, because in budget.raised
        ),
    )
    return Section(
        "ledger",
        "What was paid",
        "Every version is charged, also one that was never published; nothing is given back.",
        tuple(blocks),
        (),
    )
