"""One run of one release: snapshot, encode, method, recode, verify, publish (design, section 3)."""

from __future__ import annotations

import datetime
import secrets
from dataclasses import replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import integer
from sqlanon.errors import PolicyError
from sqlanon.formats import RowGroups
from sqlanon.progress import Progress, Silent, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.policy_diff import weakenings
from sqlanon.release.catalog.refresh import Decision, decide, due, first, policy_changes, schema_changes
from sqlanon.release.catalog.rights import reader_warnings
from sqlanon.release.catalog.state import ReleaseState, read_state
from sqlanon.release.catalog.target import Publication, target_of
from sqlanon.release.divide import loss_limit, own_boxes
from sqlanon.release.divide.classes import Machine, make_classes, measured
from sqlanon.release.frozen.choose_lineage import due_again, lineage_of_run, shows_erased_keys
from sqlanon.release.frozen.erased_keys import check_left_out
from sqlanon.release.frozen.run import run_frozen
from sqlanon.release.history import history
from sqlanon.release.history.compare_versions import changed_rows, compare_versions
from sqlanon.release.prepare.prepare import profiled, read_source
from sqlanon.release.prepare.release_warnings import warnings
from sqlanon.release.prepare.staged import Prepared, Unchanged
from sqlanon.release.publish.keep_published import keep, keep_readers
from sqlanon.release.publish.kept_scratch import KeptScratch
from sqlanon.release.publish.publish import Content, Private, content_of, listed, put_in
from sqlanon.release.publish.second_file import reconcile
from sqlanon.release.trials.persons_cost import persons_cost
from sqlanon.release.verify import persons, tokens
from sqlanon.results import Outcome, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


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
    new_lineage: bool = False,
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
        new_lineage: with ``refresh: {mode: frozen}`` publish all rows anew, as those of a release of their own.

    Raises:
        PolicyError: the policy publishes it together with other tables.
        GuardError: the policy is weaker than before, and that was not confirmed.
        SchemaChangedError: the source has a new column that the policy does not name.
        LockedError: another session runs this release now.
        InfeasibleError: the requirements, or what is accepted at least, cannot be reached.
        PrivacyViolation: verify refused what was made.
    """
    if spec.together is not None:
        raise PolicyError(
            f"{spec.name} is published together with the other tables of {spec.together.name}: give all of them to run_tables"
        )
    progress = progress or Silent()
    watch = Stopwatch(spec.name, progress)
    try:
        with engine.lock(f"release {spec.name}"), tokens.held(engine, spec.scope):
            state = found_state(engine, spec, watch)
            kept = KeptScratch(state, keep=keep_scratch)
            previous = state.published
            early = only_due and previous and not due(spec, previous, datetime.datetime.now(datetime.UTC))
            if previous and early and not shows_erased_keys(state):
                keep_readers(engine, spec, previous)
                refuse_few(spec, previous)
                return left(spec, previous, "fresh", ("not due yet",), watch)
            with watch.stage("state"):
                target = target_of(state)
                relation = state.source
                decision = decided(state, full=full, compare=compare, allow_weaker=allow_weaker)
                lineage = lineage_of_run(state, anew=new_lineage)
                if lineage is not None:
                    decision = due_again(state, decision, *lineage)
            secret = state.secret or secrets.token_hex(32)
            with Scratch(engine, watch, kept.keep if keep_scratch else None) as scratch:
                staged = read_source(
                    scratch,
                    spec,
                    relation,
                    watch,
                    secret,
                    decision.same_as,
                    memory=machine.memory,
                    tokens=state.tokens,
                    follows=lineage is not None and not lineage[1],
                )
                decision = decision.against(staged.source.fingerprint)
                if isinstance(staged, Unchanged):
                    assert decision.previous is not None
                    refuse_few(spec, decision.previous)
                    with watch.stage("publish"):
                        keep(state, decision.previous, staged.source.read_at)
                    same = left(spec, decision.previous, "unchanged", decision.why, watch)
                    return replace(same, warnings=(*same.warnings, *reader_warnings(engine, spec, relation.ref)))
                if lineage is not None:
                    its, begins = lineage
                    made = run_frozen(
                        state, machine, watch, scratch, staged, target, decision, secret, its, begins=begins
                    )
                else:
                    with watch.stage("state"):
                        check_left_out(scratch, state, staged)
                    ready = profiled(scratch, spec, staged, watch, memory=machine.memory)
                    content = made_content(state, machine, watch, scratch, ready, target, decision, secret)
                    made = put_in(state, target, content, watch)
            return replace(made, seconds=watch.total(), scratch=tuple(kept.tables))
    finally:
        progress.finish(spec.name)


def found_state(engine: Engine, spec: ReleaseSpec, watch: Stopwatch) -> ReleaseState:
    """The state of a release whose lock is held, after what a kill left is tidied."""
    with watch.stage("state"):
        Catalog(engine).guard()
        state = read_state(engine, spec)
        return read_state(engine, spec) if reconcile(engine, spec.name, state.versions) else state


def decided(state: ReleaseState, *, full: bool = False, compare: bool = True, allow_weaker: bool = False) -> Decision:
    """Why a new version is made, as far as can be said before the source is read.

    Raises:
        GuardError: the policy is weaker than before, and that was not confirmed.
    """
    spec = state.spec
    if compare:
        decision = decide(state, full=full)
    elif state.last_shown is None:
        decision = replace(first(state), state="made anew", why=())
    else:
        # Refuses what rest: keep would newly publish.
        schema_changes(spec, state.last_shown, state.source)
        changed = policy_changes(state.last_shown, spec)
        decision = Decision("made anew", tuple(map(str, changed)), weakenings(changed), state.last_shown, None)
    decision.confirmed(spec.name, allow_weaker=allow_weaker)
    return decision


def refuse_few(spec: ReleaseSpec, entry: Entry) -> None:
    """Refuse to keep a version whose classes have fewer persons than the policy asks by now; readers still have it.

    Raises:
        PrivacyViolation: they have.
    """
    if not spec.privacy.of_persons:  # else it was made by requirements over persons
        persons.hold(spec, RunReport.from_dict(entry.report).min_identifiers)


def left(spec: ReleaseSpec, entry: Entry, outcome: Outcome, why: tuple[str, ...], watch: Stopwatch) -> RunReport:
    """The published version's report, as nothing was made."""
    made = RunReport.from_dict(entry.report)
    return replace(made, outcome=outcome, why=why, seconds=watch.total(), warnings=persons.warnings(spec))


def made_content(
    state: ReleaseState,
    machine: Machine,
    watch: Stopwatch,
    scratch: Scratch,
    ready: Prepared,
    target: Publication,
    decision: Decision,
    secret: str,
    siblings: tokens.Siblings | None = None,
) -> Content:
    """Make the classes of a version, and what will be published of them."""
    spec = state.spec
    with watch.stage("profile"):
        data = changed_rows(scratch, state, ready, decision.previous)
    cost = None
    if spec.privacy.whole and not spec.token:
        with watch.stage("method") as stage:
            cost = persons_cost(scratch, spec, ready, stage, machine.memory, machine.threads, secret)
    made = make_classes(spec, machine, watch, scratch, ready, secret, tokens.elsewhere(scratch, state, siblings))
    encoded, classed, recoded = made.encoded, made.classed, made.recoded
    with watch.stage("verify"):
        fewest = _identifiers(scratch, classed, recoded.groups, ready)
        if not spec.privacy.of_persons:  # where a requirement counts them, it was verified
            persons.hold(spec, fewest)
        compared = compare_versions(
            scratch, state, ready, classed, recoded, data, decision.previous, target.version, secret
        )
        history.hold(spec, compared.reports)
    with watch.stage("recode"):
        loss = measured(scratch, spec, made)
    with watch.stage("verify"):
        loss_limit.held(spec, scratch, encoded, recoded, loss)
    with watch.stage("state"):
        warned = (*persons.warnings(spec), *warnings(state, target))
    report = RunReport(
        release=spec.name,
        version=target.version,
        source=str(ready.roles.relation.ref),
        published=target.shown,
        rows=encoded.rows,
        suppressed=recoded.suppressed,
        left_out=recoded.left_out,
        classes=recoded.classes,
        min_class=recoded.min_class,
        max_class=recoded.max_class,
        requirements=(),
        loss=loss,
        seconds={},
        verified=False,
        method=ready.method.describe(),
        execution=made.execution,
        format=spec.format.kind,
        columns=tuple(column.name for column in recoded.columns),
        min_identifiers=fewest,
        warnings=warned,
        published_sensitive=target.shown_sensitive,
        notes=(*made.notes, *([cost] if cost else []), *compared.notes),
        search=made.search,
        why=decision.why,
        replaces=decision.replaced,
        data=compared.data,
        history=compared.reports,
        surest=own_boxes.surest(scratch, encoded, classed, recoded),
        max_person_share=_share(scratch, spec, classed, recoded.groups, ready),
    )
    kept = history.value_columns(ready.roles, ready.persons) + ["boxes"] * (recoded.candidates is not None)
    private = Private(made.seed, secret, compared.table, kept)
    if siblings is not None:
        published = listed(recoded.columns)
        rows = scratch.table("shown")
        scratch.execute("persons/shown", shown=rows, classed=classed, released=recoded.released, published=published)
        names = [one["name"] for one in published]
        siblings.made.append(tokens.shown(spec, rows, recoded.layout.of_class, names))
    return content_of(state, target, scratch, encoded, classed, recoded, ready, report, watch, private, siblings)


def _share(scratch: Scratch, spec: ReleaseSpec, classed: TableRef, groups: RowGroups, ready: Prepared) -> float | None:
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
    return {one.name: integer(cell) for one, cell in zip(ready.persons, row, strict=True)}
