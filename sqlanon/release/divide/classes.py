"""Classes of staged rows.

It encodes, runs the method, recodes, and compares the result with the rows (design, section 3).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlanon.declared import METHODS, most_suppressed, refining
from sqlanon.declared.combinations import promised
from sqlanon.engines.base import TableRef
from sqlanon.formats import Levels, Recoded, format_of
from sqlanon.loss import Attribute, Facts, Joint, classification, joint_counts, measure, measure_asked
from sqlanon.methods.base import Context
from sqlanon.progress import Stopwatch
from sqlanon.release.divide import (
    loss_limit,
    merge_failing_groups,
    own_boxes,
    suppressed_rows,
)
from sqlanon.release.divide.choose_division import division_of
from sqlanon.release.prepare.staged import Prepared
from sqlanon.release.prepare.unlisted_values import others
from sqlanon.release.verify.verify import verify_staged
from sqlanon.results import LossReport
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
    spec: ReleaseSpec,
    machine: Machine,
    watch: Stopwatch,
    scratch: Scratch,
    ready: Prepared,
    secret: str,
    elsewhere: TableRef | None = None,
) -> Made:
    """Encode, run the method, recode, and compare what would be released with the staged rows.

    ``elsewhere`` has what the tokens are like in the other tables of the scope: see `sqlanon.release.verify.tokens`.
    """
    with watch.stage("encode"):
        encoded = encode(
            scratch,
            ready.roles,
            ready.stage,
            ready.quasi,
            ready.sensitive,
            ready.rows,
            ready.person_codes,
            ready.population,
        )
    seed = spec.seed if spec.seed is not None else secrets.randbits(62)
    own = METHODS.believes(spec.method.name)
    form = format_of(spec.format.kind)
    read = tuple(d for d in encoded.quasi if form.reads_codes(d, spec.format))
    division = division_of(spec, ready.roles, scratch.engine, secret, elsewhere)
    judged = division.judged(ready.requirements)
    if spec.metrics or judged:
        read = (*encoded.quasi, *encoded.sensitive)
    with watch.stage("method") as progress:
        context = Context(
            scratch,
            encoded,
            tuple(one for one in ready.requirements if not one.afterwards),
            spec.execution,
            spec.memory or machine.memory,
            machine.threads,
            progress,
            seed,
            spec.privacy.accuracy,
            spec.suppression,
            most_suppressed(spec, encoded.rows),
            refining(spec, encoded.rows, len(encoded.quasi)),
            spec.format.kind,
            spec.seed or 0,
            own,
            bool(read),
            division.key(secret),
            spec.name,
        )
        divided = division.divide(context, ready.method)
        assignment = divided.assignment
    with watch.stage("recode"):
        # Nothing verifies what a method states of its own rows: only methods of this package are believed.
        joint = joint_counts(scratch, encoded, spec.metrics)
        if assignment.spans is None and not (spec.metrics or judged):
            read = encoded.quasi
        omitted = scratch.table("omitted") if assignment.unassigned else None
        classed = attach_classes(
            scratch,
            encoded,
            assignment.table,
            ready.carried,
            secret,
            codes=read,
            divided=divided.divides_equal_rows(trusted=own),
            shared=assignment.shared if own else None,
            omitted=omitted,
            listed=assignment.listed,
            packed=assignment.packed,
        )
        lost = suppressed_rows.counted(scratch, spec, encoded, classed, assignment)
        notes = loss_limit.reached(scratch, spec, ready.requirements, encoded, classed) + assignment.notes
        notes += lost.notes(encoded.rows)
        notes += others(scratch, encoded.quasi, encoded.rows)
        notes += tuple(promised(spec))
        levels = Levels(assignment.levels, assignment.starred if lost.starred else None, assignment.wider)
        rows = division.recoded_rows(scratch, encoded, classed, divided)
        if judged and not levels:
            classed, recoded, groups = merge_failing_groups.recoded(
                scratch,
                encoded,
                classed,
                assignment.spans,
                judged,
                lambda rows, spans: form.recode(scratch, encoded, rows, spec.format, spans, seed, levels),
                divided.blocks,
            )
            notes += division.notes(groups, judged)
        else:
            recoded = form.recode(scratch, encoded, rows, spec.format, assignment.spans, seed, levels)
        recoded = replace(
            recoded,
            left_out=lost.left_out,
            omitted=omitted,
            starred=levels.starred,
            starred_rows=lost.starred,
            wider=assignment.wider or spec.refresh.frozen,  # there rows leave classes that stay
            candidates=division.candidates(scratch, divided, rows),
        )
    with watch.stage("verify"):
        attained = verify_staged(scratch, encoded, classed, recoded, spec.format)
        recoded = replace(recoded, attained=attained)
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


def measured(scratch: Scratch, spec: ReleaseSpec, made: Made) -> LossReport:
    """What the rows lose in their classes, by every metric that is asked."""
    encoded, classed, recoded = made.encoded, made.classed, made.recoded
    attributes = [Attribute(d.code, d.reading.name, d.reading.spec.weight, d.size) for d in encoded.quasi]
    asked = spec.privacy.k if spec.privacy.k > 1 and recoded.candidates is None else None
    loss = measure(scratch, own_boxes.counted(scratch, encoded, recoded), recoded.groups, attributes, asked, recoded)
    loss = recoded.form.loss(scratch, encoded, classed, recoded, loss)
    if made.generalized and len(encoded.sensitive) == 1:
        (value,) = (domain.reading.alias for domain in encoded.sensitive)
        cm = classification(scratch, classed, recoded.groups, value, recoded, encoded.rows)
        loss = replace(loss, cm=cm)
    if spec.metrics:
        regions = recoded.form.regions(scratch, encoded, recoded)
        facts = Facts(scratch, encoded, classed, regions, recoded.groups, recoded, made.joint)
        loss = measure_asked(facts, spec.metrics, loss)
    return loss
