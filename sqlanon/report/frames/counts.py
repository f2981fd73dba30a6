"""The frame of a release of counts: rules, certificate, and what the numbers lost, in terms of statistical offices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.audit import audit as auditing
from sqlanon.release.catalog.approvals import Approvals
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.state import SHOWN
from sqlanon.release.catalog.views import spell_table
from sqlanon.report.decision import NOT_SAID, context_pairs, review_date
from sqlanon.report.document import Front, Page, Section, State, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, VersionFacts
from sqlanon.report.frames.measurements import say_approval, say_review, say_threshold
from sqlanon.report.frames.words import define_words
from sqlanon.results import RunReport
from sqlanon.results.figures import count, join_names, share

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.results import StatisticsReport
    from sqlanon.results.counts import CountsAttackReport, CountsReader

FRAME = "sdc"
"""The only frame of counts: the others ask about rows."""
SOURCE = "Statistical disclosure control of tables, in the terms of statistical offices"


def counts_frame(
    engine: Engine, entry: Entry, name: str, progress: Progress | None = None, *, attack: bool = False
) -> Page:
    """The page of a frame for the published version of a release of counts; the certificate is checked now.

    Args:
        engine: the database of the source, with the rights of the owner.
        entry: the version.
        name: of the frame.
        progress: gets the parts.
        attack: look for small cells as readers do.

    Raises:
        PolicyError: the frame is about rows.
        PrivacyViolation: the certificate fails.

    Cost: that of an audit; an attack has linear programs for the small cells.
    """
    if name != FRAME:
        raise PolicyError(
            f"{entry.release}: the frame {name} asks about rows, and this release has counts: --frame {FRAME}"
        )
    assert entry.view is not None
    reporter = progress or SilentProgress()
    reporter.stage(entry.release, "certificate")
    auditing.audit(engine, spell_table(entry.view))
    catalog = Catalog(engine)
    beside = catalog.entries(statuses=("published",), source=entry.source)
    run = RunReport.from_dict(entry.report)
    material = VersionFacts(
        engine,
        entry,
        run,
        None,
        Approvals(engine).list(entry.release),
        sum(version.status in SHOWN for version in catalog.entries(entry.release)),
        tuple(released.release for released in beside if released.release != entry.release),
    )
    attacks = None
    if attack:
        from sqlanon.attack import attack_counts

        attacks = attack_counts(engine, entry, progress=reporter)
    assert run.statistics is not None
    sections = tuple(_sections(material, run.statistics, attacks))
    reporter.finish(entry.release)
    return Page(
        release=entry.release,
        version=entry.version,
        confidential=False,
        summary=(),
        sound=attacks is None or attacks.held,
        sections=(*sections, define_words(sections)),
        front=_front(material, run.statistics, attacked=attack),
    )


def _sections(facts: VersionFacts, counts: StatisticsReport, attacks: CountsAttackReport | None) -> Iterator[Section]:
    yield Section(
        "small",
        "Small cells",
        "Cells of few persons, and what protects them.",
        (Statements("Small cells", (*_say_small(facts, counts), say_threshold(facts))), Text(CHECK)),
    )
    if attacks is not None:
        statements = tuple(_say_reader(facts, attack) for attack in attacks.attacks)
        yield Section("attacks", "Attacks", "Readers who look for small cells.", (Statements("Attacks", statements),))
    yield Section(
        "others",
        "Other tables",
        "What readers may have beside these tables.",
        (Statements("Other tables", tuple(_say_others(facts, counts))),),
    )
    loss = (Statement("what was lost", _loss(counts), "measured", facts.measured_by_run, "lost_cells"),)
    decided = (say_approval(facts), say_review(facts))
    yield Section("utility", "Information loss", "The price of the protection.", (Statements("Loss", loss),))
    yield Section("decision", "Decision", "Who decided, and until when.", (Statements("Decision", decided),))


def _say_small(facts: VersionFacts, counts: StatisticsReport) -> Iterator[Statement]:
    statistics, by = facts.policy["statistics"], facts.call("audit")
    rule = f"cells of fewer than {count(int(statistics['threshold']))} persons are small"
    other_rule = statistics.get("other") or {}
    word = "changed_cell" if other_rule else "small_cell"
    yield Statement("threshold rule", rule, "stated", "protect.persons in the policy", word)
    if not other_rule:
        hidden = f"small cells are hidden, with others that give them away: {_of_cells(counts)}; one status for both"
        yield Statement("primary and secondary suppression", hidden, "measured", facts.measured_by_run, "small_cell")
    elif other_rule["method"] == "round":
        rounded = f"all cells are multiples of {other_rule['base']}, and all sums hold"
        yield Statement("controlled rounding", rounded, "measured", by, "rounding")
    else:
        yield Statement("cell keys", _noise(counts), "measured", facts.measured_by_run, "noise")
        what = "nothing is promised of them: readers who fit all numbers find some"
        yield Statement("small cells with noise", what, "look at it", facts.call("attack"), "noise")
    if counts.witnesses or not other_rule:
        proof = f"checked now, by sums alone: {count(counts.witnesses)} other tables agree with all that is published"
        yield Statement("certificate", proof, "measured", by, "certificate")
    alone = not other_rule and statistics["insiders"] == "alone"
    sentence = (
        "who is alone in a cell finds no other small one" if alone else "who is alone in a cell was not looked at"
    )
    yield Statement("insiders", sentence, "measured" if alone else "look at it", by, "certificate")
    yield Statement("empty cells", "not listed: which values occur is seen", "stated", "the view", "zeros")


def _noise(counts: StatisticsReport) -> str:
    if counts.errors is None:
        return "numbers are rounded by a published rule, without noise"
    before, after = counts.errors
    return f"expected error {before:.2f} (root of the mean square), {after:.2f} for who fits all numbers"


def _say_reader(facts: VersionFacts, reader: CountsReader) -> Statement:
    names = {
        "naive": "if only small cells were hidden",
        "outsider": "readers of the view",
        "versions": "readers of all versions, of newcomers",
        "rows": "readers of the rows as well",
        "insider": "persons alone in a cell",
        "averaging": "readers who average the noise",
    }
    sentence = (
        f"{count(reader.exact)} of {count(reader.cells)} small cells found, {count(reader.below)} found to be small"
    )
    state: State = "measured" if reader.held else "look at it"
    word = "changed_cell" if facts.policy["statistics"].get("other") else "small_cell"
    return Statement(names[reader.name], sentence, state, facts.call("attack"), word)


def _say_others(facts: VersionFacts, counts: StatisticsReport) -> Iterator[Statement]:
    tables = [str(table["name"]) for table in facts.policy["statistics"]["tables"]]
    other_rule = facts.policy["statistics"].get("other") or {}
    system = {"round": "all sums hold", "cell_key": "the same persons have the same noise in each"}
    how = system.get(other_rule.get("method", ""), "protected as one system")
    sentence = f"{join_names(tables)}: {how}, with all margins and levels"
    yield Statement("linked tables", sentence, "measured", facts.call("audit"), "certificate")
    yield _say_versions(facts, counts)
    neighbour = counts.neighbour
    if neighbour is not None:
        sentence = f"{neighbour.release}, version {count(neighbour.version)}: its classes and the cells are one system"
        yield Statement("rows of the same source", sentence, "measured", facts.call("audit"), "certificate")
    beside = [name for name in facts.beside if neighbour is None or name != neighbour.release]
    if beside:
        sentence = f"published of the same source: {', '.join(beside)}"
        yield Statement("other releases of the source", sentence, "look at it", facts.call("releases"), "versions")
    other_data = facts.context.get("other_data")
    text = other_data or "the policy does not say what recipients may have"
    yield Statement("data of others", text, "stated" if other_data else "look at it", "context.other_data", "outside")


def _say_versions(facts: VersionFacts, counts: StatisticsReport) -> Statement:
    if facts.versions == 1:
        return Statement("earlier versions", "there are none", "measured", facts.call("releases"), "versions")
    shown = f"{count(facts.versions)} versions were shown"
    if len(counts.earlier) + len(counts.batches) == facts.versions:
        sentence = f"{shown}: small numbers of newcomers between them are protected, by one certificate"
        return Statement("earlier versions", sentence, "measured", facts.call("audit"), "certificate")
    sentence = f"{shown}; what they say together is not measured"
    return Statement("earlier versions", sentence, "not measured", facts.call("releases"), "versions")


def _of_cells(counts: StatisticsReport) -> str:
    return f"{count(counts.hidden)} of {count(counts.cells)} cells ({share(counts.hidden, max(counts.cells, 1))})"


def _loss(counts: StatisticsReport) -> str:
    if counts.errors is not None:
        return _noise(counts)
    if counts.persons:
        return f"{_of_cells(counts)} have no number"
    return f"no number of the {count(counts.cells)} cells is the true one, but where it is a multiple"


def _front(facts: VersionFacts, counts: StatisticsReport, *, attacked: bool) -> Front:
    entry, run = facts.entry, facts.run
    context, due = dict(context_pairs(entry.policy)), review_date(entry)
    whom = (
        context["recipients"]
        if context["recipients"] != NOT_SAID
        else "its recipients (the policy does not state them)"
    )
    why = (
        f" for {context['purpose']}"
        if context["purpose"] != NOT_SAID
        else ", for a purpose that the policy does not state"
    )
    threshold = int(entry.policy["statistics"]["threshold"])
    persons = f"{count(counts.persons)} persons" if counts.persons else "not promised"
    return Front(
        frame=f"{SOURCE}.",
        about=(
            ("what", f"{run.published}, made of {entry.source}: {count(counts.cells)} cells, version {entry.version}"),
            *((key, context[key]) for key in ("purpose", "recipients", "environment", "owner")),
            (
                "made",
                f"{entry.published_at[:16].replace('T', ' ')} (UTC) by {entry.published_by}, sqlanon {entry.sqlanon}",
            ),
            *((("due for review", due),) if due else ()),
        ),
        question=f"Decision asked: may {entry.release}, version {entry.version}, be given to {whom}{why}?",
        figures=(
            ("fewest persons of a shown cell", persons, f"cells of fewer than {count(threshold)} are small"),
            ("cells without their true number", share(counts.hidden, max(counts.cells, 1)), _loss(counts)),
            ("tables that prove the protection", count(counts.witnesses), "whole numbers that agree with all cells"),
        ),
        remains=tuple(_remains(facts, attacked=attacked)),
    )


def _remains(facts: VersionFacts, *, attacked: bool) -> Sequence[str]:
    remains = ["Who knows numbers that are published elsewhere, or tables of other persons, was not looked at."]
    if not attacked:
        remains.append("No attack was run for this report (--attack).")
    missing = [title for title, text in context_pairs(facts.policy) if text == NOT_SAID]
    if missing:
        remains.append(f"The policy does not state: {', '.join(missing)}.")
    return remains
