"""Erase: the classes that hold given keys leave a lineage at once, and the keys are never published again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import read_integer, read_integers
from sqlanon.errors import DatabaseError, GuardError, PolicyError
from sqlanon.progress import Progress, SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog, now
from sqlanon.release.catalog.entry import refuse_counts
from sqlanon.release.catalog.lineage import Lineage, number_of
from sqlanon.release.catalog.places import list_left
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.rights import drop_statistics
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release.catalog.target import target_of
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.release.divide.division import Division
from sqlanon.release.frozen.choose_lineage import lineage_of_run, own_histories
from sqlanon.release.frozen.erased_keys import count_unrecognized, lineages_by_others, list_mark, secret_is_lost
from sqlanon.release.frozen.hashed_keys import hash_listed_keys
from sqlanon.release.frozen.version import Step, list_erased, record
from sqlanon.release.publish.deliveries import delivery_of, purge_places
from sqlanon.release.publish.kept_scratch import KeptScratch
from sqlanon.release.publish.new_version import make_room
from sqlanon.release.publish.retention import drops_of, find_status_after_drop, shows_erased
from sqlanon.release.stages.stage import execute, read_of, stages_after_reading
from sqlanon.release.stages.work import Work, find_state, secret_of
from sqlanon.release.versions.lineage import OfLineage
from sqlanon.results import EraseReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch

WHY = "keys are erased"
WITHOUT_KEYS = (
    "its private tables have numbers and no keys, so that no key can be erased; delete the rows from the source, and "
    "unpublish --purge drops the tables"
)


def erase(
    engine: Engine,
    spec: ReleaseSpec,
    machine: Machine,
    names: Sequence[str],
    keys: Sequence[Sequence[str]],
    progress: Progress | None = None,
    *,
    confirmed: bool = False,
) -> EraseReport:
    """Say the cost of erasing keys, and do it if that is confirmed.

    The classes that hold a given key leave, whole, in a version of its own. Tables of earlier versions are dropped, so
    that no rollback can show them again, and the lineages' records of these classes are emptied. Where no version can
    follow, as the secret or the key of earlier hashes has changed, the keys are listed alone, for the new lineage that
    has to begin.

    Args:
        engine: the source's database.
        spec: the release.
        machine: resources of the run.
        names: the columns of ``keys``.
        keys: texts as the database reads them.
        progress: gets stages and notes.
        confirmed: do it.

    Raises:
        PolicyError: the columns are not those of the key, or the release has no lineage.
        UnsupportedError: the release has statistics.
        DatabaseError: a text is no value of the column.
    """
    progress = progress or SilentProgress()
    watch = Stopwatch(spec.name, progress)
    try:
        with engine.lock(f"release {spec.name}"):
            state = find_state(engine, spec, watch, every=True)
            if state.last_shown is not None:
                refuse_counts(state.last_shown, WITHOUT_KEYS)
            with watch.stage("state"):
                secret, division = secret_of(state), division_of_run(spec, engine.workers)
                apart = count_unrecognized(state, state.secret)
                lineage, follows = _lineage(state, division, lost=apart != 0 or secret_is_lost(state))
                previous = state.last_shown
                assert previous is not None
                target = target_of(state)
            roles = assign_roles(spec, state.source)
            with Scratch(engine, watch) as scratch:
                hashed = hash_listed_keys(scratch, spec, roles, names, keys, secret)
                if not follows:
                    number = scratch.count("frozen/listed", erased=hashed)
                    listed = EraseReport(spec.name, number, 0, 0, 0, 0, 0, (), apart=apart or 0, only_listed=True)
                    if confirmed:
                        _list(state, scratch, lineage, target, hashed, secret)
                    return replace(listed, done=confirmed)
                warnings = tuple(list_left(state.versions, (target.place, target.address)))
                report = _report_found(scratch, state, lineage, hashed)
                report = replace(report, apart=apart or 0, warnings=warnings)
                if not confirmed:
                    return report
                KeptScratch(state, keep=False)  # drops the tables kept by an earlier run, with rows of the source
                if state.published is None:
                    _without_version(state, scratch, lineage, target.version, hashed)
                    return replace(report, done=True)
                every = scratch.table("erased_keys")
                scratch.execute(
                    "frozen/erased_keys",
                    made=every,
                    keys=hashed,
                    erased=lineage.erased if state.exists(lineage.erased) else None,
                )
                decision = Decision("made anew", (WHY,), (), previous, None)
                version = OfLineage(lineage, begins=False, erasing=every, erases=report.keys)
                work = Work(state, target, decision, version, division, machine, watch, secret, scratch)
                works = {spec.name: work}
                execute([read_of(works)], works)
                work.decision = decision  # whatever else has changed
                execute(stages_after_reading(works), works)
            _check_dropped(engine, spec.name)
            return replace(report, done=True, version=work.finished.version)
    finally:
        progress.finish(spec.name)


def _without_version(state: ReleaseState, scratch: Scratch, lineage: Lineage, version: int, hashed: TableRef) -> None:
    """Erase keys of a release that is withdrawn: nothing is published, and no version can be returned to."""
    every, catalog = scratch.table("erased_keys"), Catalog(state.engine)
    scratch.execute("frozen/erased_keys", made=every, keys=hashed, erased=None)
    with state.engine.publishing():
        mark = list_mark(state, state.secret)
        record(
            scratch,
            Step(
                lineage,
                state.spec.name,
                version,
                False,
                now(),
                erased=every,
                listed_by=mark,
                histories=own_histories(state),
                by_others=lineages_by_others(state),
            ),
            {},
            {},
        )
        for entry in (version for version in state.versions if version.status in SHOWN):
            catalog.mark(entry.release, entry.version, find_status_after_drop(entry), drops_of(state.engine, entry))
    purge_places(state.engine, state.spec.name, state.versions)


def _list(
    state: ReleaseState,
    scratch: Scratch,
    lineage: Lineage,
    target: Publication,
    hashed: TableRef,
    secret: str,
) -> None:
    """Put keys on the list of erased keys, and change nothing else.

    Published rows were made with another key or secret.
    """
    make_room(state, target, secret)
    every = scratch.table("erased_keys")
    scratch.execute("frozen/erased_keys", made=every, keys=hashed, erased=None)
    with state.engine.publishing():
        if not state.engine.exists(lineage.erased):
            scratch.execute("frozen/create_erased", erased=lineage.erased)
        scratch.execute_all(list_erased(scratch, lineage, every, now(), list_mark(state, secret)))
        drop_statistics(scratch.engine, [lineage.erased])


def _lineage(state: ReleaseState, division: Division, *, lost: bool) -> tuple[Lineage, bool]:
    """The lineage to erase from, and whether it can have another version.

    ``lost``: whether the list or the secret is missing, or belongs to a key other than the present key.
    """
    newest = [version for version in state.versions if version.frozen and version.status in SHOWN]
    try:
        lineage = lineage_of_run(state, division, anew=False, listing=True)
    except GuardError as error:
        if not (lost and newest):
            raise GuardError(
                f"{'; '.join(error.problems)}. Nothing was erased: what is published of these keys stays until they "
                "are erased with the policy and the source's columns as they were, or after that run; it leaves them "
                "out where their rows were deleted from the source"
            ).with_advice(*error.options) from error
        return Lineage.of(state.engine, state.spec.name, number_of(newest[-1]) or 1), False
    if lineage is not None and lineage[1] and lost and newest:
        return lineage[0], False
    if lineage is None or lineage[1]:
        raise PolicyError(
            f"{state.spec.name}: {_no_lineage(state, bool(newest))}, so that keys cannot be erased: delete the rows "
            "from the source and run"
            + ("; then erase the keys, so that nothing is kept of earlier versions" if newest else "")
        )
    return lineage[0], True


def _no_lineage(state: ReleaseState, was: bool) -> str:
    """Why there is no lineage to erase from."""
    if not state.spec.refresh.frozen:
        return "the policy has no refresh: {mode: frozen}"
    return (
        "the newest version is in no lineage, as it was made without refresh: {mode: frozen}"
        if was
        else "no version was made with refresh: {mode: frozen} yet"
    )


def _report_found(scratch: Scratch, state: ReleaseState, lineage: Lineage, hashed: TableRef) -> EraseReport:
    """Rows and classes that would leave."""
    # By the version that readers have, or had last: an earlier erasure may have been stopped before its version took
    # that place.
    version = state.last_shown.version if state.last_shown else 0
    row = scratch.fetch("frozen/found_keys", keys=hashed, rows=lineage.rows, at=version)[0]
    classes, rows, staying = (
        read_integer(cell) for cell in scratch.fetch("frozen/held", keys=hashed, rows=lineage.rows, at=version)[0]
    )
    versions = [
        entry.version
        for entry in state.versions
        if state.engine.exists(entry.table) or entry.status in ("published", "replaced", "withdrawn")
    ]
    keys, published, waiting, unmatched = read_integers(row)
    return EraseReport(
        state.spec.name,
        keys,
        published,
        waiting,
        unmatched,
        classes,
        rows,
        tuple(versions),
        stays=staying if state.published else None,
    )


def _check_dropped(engine: Engine, release: str) -> None:
    """No table of an earlier version is left, here or in the other database.

    Raises:
        DatabaseError: a table is still there.
    """
    entries = Catalog(engine).entries(release)
    sent = [entry for entry in entries if entry.sent]
    if sent:
        delivery_of(sent[-1]).purge(engine, release, sent)
    undropped = [
        str(entry.version)
        for entry in entries
        if shows_erased(entry, entries) and entry.status in SHOWN and engine.exists(entry.table)
    ]
    if undropped:
        raise DatabaseError(
            f"{release}: the keys are erased from what is published, but tables of version {', '.join(undropped)} "
            "could not be dropped: something reads them or depends on them. Drop that; the next run drops them, and no "
            "rollback returns to them"
        )
