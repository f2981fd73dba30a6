"""One run of several tables that are published together (`tables:`): one snapshot of all sources, and one transaction that publishes all.

Their classes are made one after the other, in the policy's order: the persons of a table are divided by what their tokens are alike in the tables
before it. What is written is then checked together, whatever made it.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import require
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, Silent, Stopwatch
from sqlanon.release.catalog.refresh import Decision, due
from sqlanon.release.catalog.rights import reader_warnings
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.target import target_of
from sqlanon.release.divide.classes import Machine
from sqlanon.release.frozen.erased_keys import check_left_out
from sqlanon.release.prepare.prepare import profiled, read_source
from sqlanon.release.prepare.row_security import source_snapshot
from sqlanon.release.prepare.staged import Staged, Unchanged
from sqlanon.release.publish.keep_published import keep, keep_readers
from sqlanon.release.publish.publish import New, put_together
from sqlanon.release.run import decided, found_state, left, made_content, refuse_few
from sqlanon.release.verify import tokens
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


def run_tables(
    engine: Engine,
    specs: Sequence[ReleaseSpec],
    machine: Machine,
    progress: Progress | None = None,
    *,
    full: bool = False,
    allow_weaker: bool = False,
    only_due: bool = False,
) -> tuple[RunReport, ...]:
    """Make the tables of one release, verify them together and publish all of them, or raise and leave everything as it was.

    Where one table has anything new, all get a new version.

    Args:
        engine: the sources' database.
        specs: all tables of the release, in the policy's order.
        machine: what the run may use.
        progress: gets stages, counts and notes.
        full: make new versions even where nothing is new.
        allow_weaker: the policy may promise less than that of the published versions.
        only_due: leave the tables alone if a run looked at all of them less than ``every`` ago.

    Returns:
        the report of each table.

    Raises:
        UnsupportedError: the engine has no transactions.
        SqlanonError: what `sqlanon.release.run.run` raises.

    Cost: that of a run of each table; the scratch tables of all of them are there until the end.
    """
    together = specs[0].together if specs else None
    if together is None or tuple(spec.name for spec in specs) != together.tables:
        raise PolicyError("the tables of one release are published together: give all of them, in their order")
    require(engine, "tables", together.name)
    progress = progress or Silent()
    watches = [Stopwatch(spec.name, progress) for spec in specs]
    try:
        with ExitStack() as held:
            for name in sorted(together.tables):
                held.enter_context(engine.lock(f"release {name}"))
            held.enter_context(tokens.held(engine, specs[0].scope))
            states = [found_state(engine, spec, watch) for spec, watch in zip(specs, watches, strict=True)]
            key = secrets.token_hex(32) if specs[0].rotates else states[0].tokens
            states = [replace(state, tokens=key) for state in states]
            now = datetime.datetime.now(datetime.UTC)
            if only_due and not any(
                state.published is None or due(state.spec, state.published, now) for state in states
            ):
                return tuple(_fresh(state, watch) for state, watch in zip(states, watches, strict=True))
            decisions = [decided(state, full=full, allow_weaker=allow_weaker) for state in states]
            made = _read(engine, held, states, decisions, watches, machine)
            if isinstance(made, tuple):
                return made
            before = tuple(one.published for one in states if one.published)
            siblings = tokens.Siblings(together.tables, before)
            parts: list[New] = []
            for state, watch, (scratch, staged, decision, secret) in zip(states, watches, made, strict=True):
                with watch.stage("state"):
                    check_left_out(scratch, state, staged)
                ready = profiled(scratch, state.spec, staged, watch, memory=machine.memory)
                target = target_of(state)
                content = made_content(state, machine, watch, scratch, ready, target, decision, secret, siblings)
                parts.append(New(state, target, content, watch))
            done = put_together(parts)
        return tuple(replace(one, seconds=watch.total()) for one, watch in zip(done, watches, strict=True))
    finally:
        for spec in specs:
            progress.finish(spec.name)


def _fresh(state: ReleaseState, watch: Stopwatch) -> RunReport:
    assert state.published is not None
    refuse_few(state.spec, state.published)
    keep_readers(state.engine, state.spec, state.published)
    return left(state.spec, state.published, "fresh", ("not due yet",), watch)


def _read(
    engine: Engine,
    held: ExitStack,
    states: Sequence[ReleaseState],
    decisions: Sequence[Decision],
    watches: Sequence[Stopwatch],
    machine: Machine,
) -> list[tuple[Scratch, Staged, Decision, str]] | tuple[RunReport, ...]:
    """Stage all sources in one snapshot; reports, if nothing is new in any of them."""
    scratches = [held.enter_context(Scratch(engine, watch, alone=False)) for watch in watches]
    hidden = [state.secret or secrets.token_hex(32) for state in states]
    found: list[tuple[Scratch, Staged, Decision, str]] = []

    def read_one(at: int, same_as: str | None) -> Staged | Unchanged:
        state = states[at]
        return read_source(
            scratches[at],
            state.spec,
            state.source,
            watches[at],
            hidden[at],
            same_as,
            memory=machine.memory,
            tokens=state.tokens,
            held=True,
        )

    # One table that must be made anew is enough for all of them to be read.
    same = all(decision.same_as is not None for decision in decisions)
    with source_snapshot(engine, [(state.spec, state.source.ref) for state in states]):
        read = [read_one(at, one.same_as if same else None) for at, one in enumerate(decisions)]
        if any(isinstance(one, Staged) for one in read):
            read = [read_one(at, None) if isinstance(one, Unchanged) else one for at, one in enumerate(read)]
    looked = [decision.against(one.source.fingerprint) for decision, one in zip(decisions, read, strict=True)]
    if all(isinstance(one, Unchanged) for one in read):
        return tuple(
            _unchanged(state, decision, one.source.read_at, watch)
            for state, decision, one, watch in zip(states, looked, read, watches, strict=True)
        )
    for scratch, one, decision, secret in zip(scratches, read, looked, hidden, strict=True):
        assert isinstance(one, Staged)
        why = "the tables that it is published together with changed"
        alike = decision.state == "unchanged"
        found.append((scratch, one, replace(decision, state="made anew", why=(why,)) if alike else decision, secret))
    return found


def _unchanged(state: ReleaseState, decision: Decision, at: str, watch: Stopwatch) -> RunReport:
    assert decision.previous is not None
    refuse_few(state.spec, decision.previous)
    with watch.stage("publish"):
        keep(state, decision.previous, at)
    same = left(state.spec, decision.previous, "unchanged", decision.why, watch)
    warned = reader_warnings(state.engine, state.spec, state.source.ref)
    return replace(same, warnings=(*same.warnings, *warned))
