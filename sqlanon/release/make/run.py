"""One run of one release: snapshot, encode, method, recode, verify, publish (design, section 3)."""

from __future__ import annotations

import datetime
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlanon.declared import FORMATS, METHODS, most_suppressed, refining
from sqlanon.engines.base import Engine, TableRef
from sqlanon.formats import Levels, Recoded, RowGroups, format_of
from sqlanon.loss import Attribute, Facts, Joint, classification, joint_counts, measure, measure_asked
from sqlanon.methods.base import Context
from sqlanon.progress import Progress, Silent, Stopwatch
from sqlanon.release.check import history, persons
from sqlanon.release.check.verify import verify_staged
from sqlanon.release.make import bound, suppressed
from sqlanon.release.make.prepare import Prepared, Unchanged, link_columns, prepare
from sqlanon.release.store.catalog import Catalog, Entry
from sqlanon.release.store.kept_scratch import KeptScratch
from sqlanon.release.store.policy_diff import weakenings
from sqlanon.release.store.publish import Private, keep, keep_readers, publish
from sqlanon.release.store.refresh import (
    Decision,
    data_change,
    data_change_by_key,
    decide,
    due,
    first,
    link_columns_of,
    policy_changes,
    schema_changes,
)
from sqlanon.release.store.rights import reader_warnings
from sqlanon.release.store.second_file import reconcile
from sqlanon.release.store.state import ReleaseState, read_state
from sqlanon.release.store.target import Publication, is_pair, target_of
from sqlanon.results import DataChange, HistoryReport, Outcome, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.encode import Encoded, attach_classes, encode
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Machine:
    """What a run may use: bytes for the kernels, and threads."""

    memory: int
    threads: int

    @classmethod
    def here(cls) -> Machine:
        """A quarter of the memory, all cores of this process."""
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return cls(
            total // 4,
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        )


def run(
    engine: Engine,
    spec: ReleaseSpec,
    machine: Machine,
    progress: Progress | None = None,
    *,
    full: bool = False,
    allow_weaker: bool = False,
    only_due: bool = False,
    compare: bool = True,
    keep_scratch: bool = False,
) -> RunReport:
    """Make one release, verify it and publish it, or raise and leave everything as it was.

    Args:
        engine: the source's database.
        spec: the release.
        machine: what the run may use.
        progress: gets stages, counts and notes.
        full: make a new version even where source, policy and sqlanon are those of the published one.
        allow_weaker: the policy may promise less than that of the published version.
        only_due: leave a release alone that a run looked at less than ``every`` ago.
        compare: leave a release that is up to date; without it a new version is made in any case.
        keep_scratch: keep every intermediate table in the private schema, with its source values, until the next run or `clean`;
            the report lists them.

    Raises:
        GuardError: the policy is weaker than before, and that was not confirmed.
        SchemaChangedError: the source has a new column that the policy does not name.
        LockedError: another session runs this release now.
        InfeasibleError: the requirements, or what is accepted at least, cannot be reached.
        PrivacyViolation: verify refused what was made.
    """
    progress = progress or Silent()
    watch = Stopwatch(spec.name, progress)
    try:
        with engine.lock(f"release {spec.name}"):
            with watch.stage("state"):
                Catalog(engine).guard()
                state = read_state(engine, spec)
                if reconcile(engine, spec.name, state.versions):
                    state = read_state(engine, spec)
                kept = KeptScratch(state, keep=keep_scratch)
            previous = state.published
            if only_due and previous and not due(spec, previous, datetime.datetime.now(datetime.UTC)):
                keep_readers(engine, spec, previous)
                return _left(spec, previous, "fresh", ("not due yet",), watch)
            with watch.stage("state"):
                target = target_of(state)
                relation = state.source
                if compare:
                    decision = decide(state, full=full)
                elif state.last_shown is None:
                    decision = replace(first(state), state="made anew", why=())
                else:
                    # Refuses what rest: keep would newly publish.
                    schema_changes(spec, state.last_shown, relation)
                    changed = policy_changes(state.last_shown, spec)
                    decision = Decision(
                        "made anew", tuple(map(str, changed)), weakenings(changed), state.last_shown, None
                    )
                decision.confirmed(spec.name, allow_weaker=allow_weaker)
            secret = state.secret or secrets.token_hex(32)
            with Scratch(engine, watch, kept.keep if keep_scratch else None) as scratch:
                ready = prepare(
                    scratch, spec, relation, watch, secret, decision.same_as, memory=machine.memory
                )
                decision = decision.against(ready.source.fingerprint)
                if isinstance(ready, Unchanged):
                    assert decision.previous is not None
                    with watch.stage("publish"):
                        keep(state, decision.previous, ready.source.read_at)
                    same = _left(spec, decision.previous, "unchanged", decision.why, watch)
                    return replace(
                        same, warnings=(*same.warnings, *reader_warnings(engine, spec, relation.ref))
                    )
                made = _make(state, machine, watch, scratch, ready, target, decision, secret)
            return replace(made, seconds=watch.total(), scratch=tuple(kept.tables))
    finally:
        progress.finish(spec.name)


def _left(
    spec: ReleaseSpec, entry: Entry, outcome: Outcome, why: tuple[str, ...], watch: Stopwatch
) -> RunReport:
    """The published version's report, as nothing was made."""
    made = RunReport.from_dict(entry.report)
    few = persons.warnings(spec, made.min_identifiers)
    return replace(made, outcome=outcome, why=why, seconds=watch.total(), warnings=few)


WITHOUT_KEY = "history: without key the rows of two versions cannot be matched; what they reveal together is not measured"


@dataclass(frozen=True, slots=True)
class Made:
    """Classes that cover the staged rows, not yet published."""

    encoded: Encoded
    classed: TableRef
    recoded: Recoded
    execution: str
    notes: tuple[str, ...]
    seed: int
    joint: Joint
    generalized: bool = False
    """The method suppresses rows, or decides at which levels classes are published."""
    search: Mapping[str, int] = field(default_factory=dict)
    """What the method reports of its search."""


def make_classes(
    spec: ReleaseSpec, machine: Machine, watch: Stopwatch, scratch: Scratch, ready: Prepared, secret: str
) -> Made:
    """Encode, run the method, recode, and compare what would be released with the staged rows."""
    with watch.stage("encode"):
        encoded = encode(scratch, ready.roles, ready.stage, ready.quasi, ready.sensitive, ready.rows, ready.person_codes)  # fmt: skip
    seed = spec.seed if spec.seed is not None else secrets.randbits(62)
    with watch.stage("method") as progress:
        context = Context(
            scratch, encoded, ready.requirements, spec.execution, spec.memory or machine.memory, machine.threads,
            progress, seed, spec.privacy.accuracy, spec.suppression, most_suppressed(spec, encoded.rows),
            refining(spec, encoded.rows, len(encoded.quasi)), spec.format.kind, spec.seed or 0,
        )  # fmt: skip
        assignment = ready.method.assign(context)
    with watch.stage("recode"):
        form = format_of(spec.format.kind)
        # Nothing verifies what a method states of its own rows: only methods of this package are believed.
        own = spec.method.name in {declared.name for declared in METHODS.own}
        joint = joint_counts(scratch, encoded, spec.metrics)
        read = [d for d in encoded.quasi if assignment.spans is None or form.reads_codes(d, spec.format)]
        if spec.metrics:
            read = [*encoded.quasi, *encoded.sensitive]
        omitted = scratch.table("omitted") if assignment.unassigned else None
        classed = attach_classes(
            scratch, encoded, assignment.table, ready.carried, secret, codes=read,
            divided=assignment.divided or not own,
            shared=assignment.shared if own else None,
            omitted=omitted,
        )  # fmt: skip
        lost = suppressed.counted(scratch, spec, encoded, classed, assignment)
        notes = bound.reached(scratch, spec, ready.requirements, encoded, classed) + assignment.notes
        notes += lost.notes(encoded.rows)
        levels = Levels(assignment.levels, assignment.starred if lost.starred else None)
        recoded = form.recode(scratch, encoded, classed, spec.format, assignment.spans, seed, levels)
        recoded = replace(
            recoded,
            left_out=lost.left_out,
            omitted=omitted,
            starred=levels.starred,
            starred_rows=lost.starred,
        )
    with watch.stage("verify"):
        verify_staged(scratch, encoded, classed, recoded, spec.format)
    generalized = bool(levels) or lost.left_out > 0
    return Made(
        encoded,
        classed,
        recoded,
        assignment.execution,
        tuple(notes),
        seed,
        joint,
        generalized,
        assignment.search if own else {},
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """The new version compared with those before it; ``table`` is its own history, where there is a key."""

    table: TableRef | None
    data: DataChange | None
    reports: tuple[HistoryReport, ...]
    notes: tuple[str, ...]


def compare_versions(
    scratch: Scratch, state: ReleaseState, ready: Prepared, made: Made, data: DataChange | None, previous: Entry | None,
    version: int, secret: str,
) -> Compared:  # fmt: skip
    """What the new version reveals together with the published one."""
    if not ready.keyed:
        return Compared(None, data, (), (WITHOUT_KEY,) if previous else ())
    table = history.rows_of(
        scratch, ready.roles, made.classed, made.recoded.groups, secret, ready.persons, made.recoded.omitted
    )
    earlier = history.before(state, previous)
    reports = history.compare_new(scratch, state.spec, earlier, table, version, ready.source.columns)
    for entry in earlier:
        if previous and entry.version == previous.version:
            data = data_change_by_key(scratch, entry.history, table, ready.rows)
    lacking = previous is not None and previous.version not in {entry.version for entry in earlier}
    note = "history: the published version was made without key; from this one on versions can be compared"
    return Compared(table, data, reports, (note,) if lacking else ())


def _make(
    state: ReleaseState, machine: Machine, watch: Stopwatch, scratch: Scratch, ready: Prepared,
    target: Publication, decision: Decision, secret: str,
) -> RunReport:  # fmt: skip
    spec = state.spec
    with watch.stage("profile"):
        data = changed_rows(scratch, state, ready, decision.previous)
    made = make_classes(spec, machine, watch, scratch, ready, secret)
    encoded, classed, recoded = made.encoded, made.classed, made.recoded
    with watch.stage("verify"):
        fewest = _identifiers(scratch, classed, recoded.groups, ready)
        compared = compare_versions(
            scratch, state, ready, made, data, decision.previous, target.version, secret
        )
        history.hold(spec, compared.reports)
    with watch.stage("recode"):
        attributes = [Attribute(d.code, d.reading.name, d.reading.spec.weight, d.size) for d in encoded.quasi]
        asked = spec.privacy.k if spec.privacy.k > 1 else None
        loss = measure(scratch, recoded.boxes, recoded.groups, attributes, asked, recoded)
        loss = recoded.form.loss(scratch, encoded, classed, recoded, loss)
        if made.generalized and len(encoded.sensitive) == 1:
            (value,) = (domain.reading.alias for domain in encoded.sensitive)
            cm = classification(scratch, classed, recoded.groups, value, recoded, encoded.rows)
            loss = replace(loss, cm=cm)
        if spec.metrics:
            regions = recoded.form.regions(scratch, encoded, recoded)
            facts = Facts(scratch, encoded, classed, regions, recoded.groups, recoded, made.joint)
            loss = measure_asked(facts, spec.metrics, loss)
    with watch.stage("verify"):
        bound.held(spec, scratch, encoded, recoded, loss)
    with watch.stage("state"):
        warned = (*persons.warnings(spec, fewest), *warnings(state, target))
    report = RunReport(
        release=spec.name, version=target.version, source=str(ready.roles.relation.ref), published=target.shown,
        rows=encoded.rows, suppressed=recoded.suppressed, left_out=recoded.left_out, classes=recoded.classes, min_class=recoded.min_class,
        max_class=recoded.max_class, requirements=(), loss=loss, seconds={}, verified=False,
        method=ready.method.describe(), execution=made.execution, format=spec.format.kind,
        columns=tuple(column.name for column in recoded.columns), min_identifiers=fewest,
        warnings=warned, published_sensitive=target.shown_sensitive,
        notes=(*made.notes, *compared.notes), search=made.search, why=decision.why,
        replaces=decision.replaced, data=compared.data, history=compared.reports,
    )  # fmt: skip
    private = Private(made.seed, secret, compared.table, history.value_columns(ready.roles, ready.persons))
    return publish(state, target, scratch, encoded, classed, recoded, ready, report, watch, private)


def changed_rows(
    scratch: Scratch, state: ReleaseState, ready: Prepared, previous: Entry | None
) -> DataChange | None:
    """Rows that came and went since the published version, before the stage is gone; with a key the histories are compared instead."""
    if (
        previous is None
        or not state.exists(previous.link)
        or (ready.keyed and state.exists(previous.history))
    ):
        return None
    columns = [column.name for column in ready.roles.relation.columns]
    links = link_columns(ready.roles, state.spec)
    seen = {reading.name for reading in (*ready.roles.quasi, *ready.roles.kept)}
    seen |= {column.name for column in ready.roles.identifiers}
    same = previous.fingerprint == ready.source.fingerprint
    if same and seen.issuperset(links) and link_columns_of(previous, columns) == links:
        return DataChange(ready.rows, ready.rows, 0, 0)  # the same rows, column by column
    return data_change(scratch, previous, ready.stage, links, columns, ready.rows)


def _identifiers(scratch: Scratch, classed: TableRef, groups: RowGroups, ready: Prepared) -> dict[str, int]:
    if not ready.persons:
        return {}
    aliases = [one.alias for one in ready.persons]
    row = scratch.fetch("verify/identifiers", classed=classed, groups=groups, identifiers=aliases)[0]
    return {one.name: int(str(cell)) for one, cell in zip(ready.persons, row, strict=True)}


def warnings(state: ReleaseState, target: Publication) -> tuple[str, ...]:
    """Warnings of plan and run."""
    spec, before = state.spec, state.published
    found = (
        *format_of(spec.format.kind).warnings(spec),
        *neighbours(state, target),
        *reader_warnings(state.engine, spec, state.source.ref),
    )
    if before and before.file and before.file != target.file:
        found += (f"{before.file} keeps version {before.version} and is not refreshed any more; remove it",)
    return found


def neighbours(state: ReleaseState, target: Publication) -> list[str]:
    """Other releases of the same source that the same readers can see."""
    spec, source = state.spec, str(state.source.ref)
    found: list[Entry] = []
    for entry in state.entries:
        if entry.status != "published" or entry.release == spec.name or entry.source != source:
            continue
        readers = set(entry.policy.get("readers", ())) & set(spec.readers)
        same_place = entry.view_schema == target.view.schema and not entry.file and not target.file
        if readers or same_place:
            found.append(entry)
    lines = []
    for pair in (False, True):
        names = [entry.release for entry in found if (is_pair(entry) or target.pair) == pair]
        if names:
            several = f"releases {', '.join(names)} show" if len(names) > 1 else f"release {names[0]} shows"
            lines.append(
                f"{several} the same source to the same readers; together they may reveal more than "
                f"each{how_to_measure(names, spec.name, pair)}"
            )
    return lines


def how_to_measure(others: Sequence[str], name: str, pair: bool) -> str:
    """The end of a warning about releases; ``pair``: one of each two has two tables, which audits of two leave out."""
    if pair:
        forms = " or ".join(facts.name for facts in FORMATS.values() if facts.paired)
        return f", and no audit measures it for format {forms}: give no reader both"
    return f": sqlanon audit --together {others[0]} {name}{', and so for each' if len(others) > 1 else ''}"
