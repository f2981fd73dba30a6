"""One run of one release: snapshot, encode, method, recode, verify, publish (design, section 3)."""

from __future__ import annotations

import datetime
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlanon.declared import METHODS, most_suppressed, refining
from sqlanon.declared.combinations import promised
from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Levels, Recoded, RowGroups, format_of
from sqlanon.loss import Attribute, Facts, Joint, classification, joint_counts, measure, measure_asked
from sqlanon.methods.base import Context
from sqlanon.progress import Progress, Silent, Stopwatch
from sqlanon.release.check import history, persons
from sqlanon.release.check.verify import verify_staged
from sqlanon.release.make import bound, candidates, suppressed, united, whole
from sqlanon.release.make.persons_cost import persons_cost
from sqlanon.release.make.prepare import Prepared, Unchanged, prepare
from sqlanon.release.make.versions import changed_rows, compare_versions
from sqlanon.release.make.warned import warnings
from sqlanon.release.store.catalog import Catalog
from sqlanon.release.store.catalog_entry import Entry
from sqlanon.release.store.kept_scratch import KeptScratch
from sqlanon.release.store.policy_diff import weakenings
from sqlanon.release.store.publish import Private, publish
from sqlanon.release.store.refresh import (
    Decision,
    decide,
    due,
    first,
    policy_changes,
    schema_changes,
)
from sqlanon.release.store.rights import reader_warnings
from sqlanon.release.store.second_file import reconcile
from sqlanon.release.store.state import ReleaseState, read_state
from sqlanon.release.store.target import Publication, target_of
from sqlanon.release.store.unchanged import keep, keep_readers
from sqlanon.results import Outcome, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.classed import attach_classes
from sqlanon.table.encode import Encoded, encode
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
        encoded = encode(scratch, ready.roles, ready.stage, ready.quasi, ready.sensitive, ready.rows, ready.person_codes, ready.population)  # fmt: skip
    seed = spec.seed if spec.seed is not None else secrets.randbits(62)
    own = spec.method.name in {declared.name for declared in METHODS.own}
    form = format_of(spec.format.kind)
    read = tuple(d for d in encoded.quasi if form.reads_codes(d, spec.format))
    own_persons = spec.privacy.whole
    loose = whole.of_rows(ready.requirements) if own_persons else united.not_monotone(ready.requirements)
    if spec.metrics or loose:
        read = (*encoded.quasi, *encoded.sensitive)
    with watch.stage("method") as progress:
        context = Context(
            scratch, encoded, tuple(one for one in ready.requirements if not one.afterwards), spec.execution, spec.memory or machine.memory, machine.threads,
            progress, seed, spec.privacy.accuracy, spec.suppression, most_suppressed(spec, encoded.rows),
            refining(spec, encoded.rows, len(encoded.quasi)), spec.format.kind, spec.seed or 0, own, bool(read), secret, spec.name,
        )  # fmt: skip
        assignment = whole.assigned(context, ready.method) if own_persons else ready.method.assign(context)
    if assignment.matches is not None and not spec.privacy.own_boxes:
        raise PrivacyViolation(
            f"method {spec.method.name} gave every row a box of its own, which the policy does not accept; nothing was published"
        )
    with watch.stage("recode"):
        # Nothing verifies what a method states of its own rows: only methods of this package are believed.
        joint = joint_counts(scratch, encoded, spec.metrics)
        if assignment.spans is None and not (spec.metrics or loose):
            read = encoded.quasi
        omitted = scratch.table("omitted") if assignment.unassigned else None
        classed = attach_classes(
            scratch, encoded, assignment.table, ready.carried, secret, codes=read,
            divided=assignment.divided or not own,
            shared=assignment.shared if own else None,
            omitted=omitted,
            listed=assignment.listed,
        )  # fmt: skip
        lost = suppressed.counted(scratch, spec, encoded, classed, assignment)
        notes = bound.reached(scratch, spec, ready.requirements, encoded, classed) + assignment.notes
        notes += lost.notes(encoded.rows)
        notes += tuple(promised(spec))
        levels = Levels(assignment.levels, assignment.starred if lost.starred else None)
        shown = classed
        if assignment.matches is not None:
            shown = candidates.matched(scratch, encoded, classed, assignment.matches)
        if loose and not levels:
            classed, recoded, groups = united.recoded(
                scratch, encoded, classed, assignment.spans, loose,
                lambda rows, spans: form.recode(scratch, encoded, rows, spec.format, spans, seed, levels),
            )  # fmt: skip
            notes += united.notes(groups, loose, whole=own_persons)
        else:
            recoded = form.recode(scratch, encoded, shown, spec.format, assignment.spans, seed, levels)
        recoded = replace(
            recoded,
            left_out=lost.left_out,
            omitted=omitted,
            starred=levels.starred,
            starred_rows=lost.starred,
            candidates=candidates.of(scratch, assignment.matches, shown),
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


def _make(
    state: ReleaseState, machine: Machine, watch: Stopwatch, scratch: Scratch, ready: Prepared,
    target: Publication, decision: Decision, secret: str,
) -> RunReport:  # fmt: skip
    spec = state.spec
    with watch.stage("profile"):
        data = changed_rows(scratch, state, ready, decision.previous)
    cost = None
    if spec.privacy.whole:
        with watch.stage("method") as stage:
            cost = persons_cost(scratch, spec, ready, stage, machine.memory, machine.threads, secret)
    made = make_classes(spec, machine, watch, scratch, ready, secret)
    encoded, classed, recoded = made.encoded, made.classed, made.recoded
    with watch.stage("verify"):
        fewest = _identifiers(scratch, classed, recoded.groups, ready)
        compared = compare_versions(
            scratch, state, ready, classed, recoded, data, decision.previous, target.version, secret
        )
        history.hold(spec, compared.reports)
    with watch.stage("recode"):
        attributes = [Attribute(d.code, d.reading.name, d.reading.spec.weight, d.size) for d in encoded.quasi]
        asked = spec.privacy.k if spec.privacy.k > 1 and recoded.candidates is None else None
        loss = measure(
            scratch, candidates.counted(scratch, encoded, recoded), recoded.groups, attributes, asked, recoded
        )
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
        notes=(*made.notes, *([cost] if cost else []), *compared.notes), search=made.search, why=decision.why,
        replaces=decision.replaced, data=compared.data, history=compared.reports,
        surest=candidates.surest(scratch, encoded, classed, recoded), max_person_share=_share(scratch, spec, classed, recoded.groups, ready),
    )  # fmt: skip
    kept = history.value_columns(ready.roles, ready.persons) + ["boxes"] * (recoded.candidates is not None)
    private = Private(made.seed, secret, compared.table, kept)
    return publish(state, target, scratch, encoded, classed, recoded, ready, report, watch, private)


def _share(
    scratch: Scratch, spec: ReleaseSpec, classed: TableRef, groups: RowGroups, ready: Prepared
) -> float | None:
    if not spec.person:
        return None
    (person,) = (one.alias for one in ready.persons)
    row = scratch.fetch("verify/person_share", classed=classed, groups=groups, person=person)[0]
    return float(str(row[0]))


def _identifiers(scratch: Scratch, classed: TableRef, groups: RowGroups, ready: Prepared) -> dict[str, int]:
    if not ready.persons:
        return {}
    aliases = [one.alias for one in ready.persons]
    row = scratch.fetch("verify/identifiers", classed=classed, groups=groups, identifiers=aliases)[0]
    return {one.name: int(str(cell)) for one, cell in zip(ready.persons, row, strict=True)}
