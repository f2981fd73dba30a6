"""Classes of staged rows.

It encodes, runs the method, recodes, and compares the result with the rows.
"""

from __future__ import annotations

import os
import secrets
from contextlib import nullcontext
from dataclasses import dataclass, replace

from sqlanon.declared import METHODS, least_class, limit_suppressed, read_refining
from sqlanon.declared.combinations import list_unpromised
from sqlanon.formats import Levels, format_of
from sqlanon.loss import Attribute, Facts, joint_counts, measure, measure_asked, measure_classification
from sqlanon.methods.base import Context
from sqlanon.progress import Stopwatch
from sqlanon.release.divide import loss_limit, merge_failing_groups, suppressed_rows
from sqlanon.release.divide.division import Division, DivisionKeys
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.release.prepare.unlisted_values import count_others
from sqlanon.release.verify.class_sums import begin_sums
from sqlanon.release.verify.proof import DividedSource
from sqlanon.release.verify.verify import verify_staged
from sqlanon.results import LossReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.class_rows import AssignedClasses, attach_classes
from sqlanon.table.encode import encode
from sqlanon.table.kinds import count_kinds
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Machine:
    """Resources of a run: bytes for the kernels, and threads."""

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


def make_classes(
    scratch: Scratch,
    spec: ReleaseSpec,
    ready: PreparedSource,
    division: Division,
    machine: Machine,
    watch: Stopwatch,
    keyed: DivisionKeys,
) -> DividedSource:
    """Encode, run the method, recode, and compare the rows to publish with the staged rows."""
    domains, form = ready.domains, format_of(spec.format.kind)
    read_domains = tuple(d for d in domains.quasi if form.reads_codes(d, spec.format))
    judged = division.list_judged(ready.requirements)
    if spec.metrics or judged:
        read_domains = (*domains.quasi, *domains.sensitive)
    with watch.stage("encode"):
        encoded = encode(
            scratch,
            ready.roles,
            ready.stage,
            domains,
            ready.rows,
            ready.population,
            once=not read_domains,
        )
    seed = spec.seed if spec.seed is not None else secrets.randbits(62)
    trusted = METHODS.believes(spec.method.name)
    with watch.stage("method") as progress:
        context = Context(
            scratch,
            encoded,
            ready.solved,
            spec.execution,
            spec.memory or machine.memory,
            machine.threads,
            progress,
            seed,
            spec.privacy.accuracy,
            spec.suppression,
            limit_suppressed(spec, encoded.rows),
            read_refining(spec, encoded.rows, count_kinds(encoded.quasi)),
            spec.format.kind,
            spec.seed or 0,
            trusted,
            bool(read_domains),
            division.key(keyed.secret),
            spec.name,
        )
        divided = division.divide(context, ready.method, keyed)
        assignment = divided.assignment
    with watch.stage("recode"):
        # Nothing verifies a method's statements about its own rows: only methods of this package are believed.
        joint = joint_counts(scratch, encoded, spec.metrics, least_class(spec), machine.threads)
        if assignment.spans is None and not (spec.metrics or judged):
            read_domains = encoded.quasi
        # Where the boxes are known, nothing looks at the classed rows before they are recoded, but a bound on the loss
        # and the merging of groups, which ask the engine.
        sent_together = assignment.spans is not None and spec.privacy.accuracy is None and not judged
        with scratch.together() if sent_together else nullcontext():
            omitted = scratch.table("omitted") if assignment.unassigned else None
            classed = attach_classes(
                scratch,
                encoded,
                AssignedClasses(
                    assignment.table,
                    divided=divided.divides_equal_rows(trusted=trusted),
                    shared=assignment.shared if trusted else None,
                    omitted=omitted,
                    listed=assignment.listed,
                    packed=assignment.packed,
                ),
                ready.carried,
                keyed.secret,
                codes=read_domains,
            )
            if not judged:  # there classes of rows are joined
                classed = begin_sums(scratch, classed, form.layout(ready.roles, domains.quasi, spec.format))
            lost = suppressed_rows.count_suppressed(scratch, spec, classed, assignment)
            notes = loss_limit.note_reached(scratch, spec, ready.requirements, classed) + assignment.notes
            notes += lost.notes(encoded.rows)
            notes += count_others(scratch, encoded.quasi, encoded.rows)
            notes += tuple(list_unpromised(spec))
            levels = Levels(assignment.levels, assignment.starred if lost.starred else None, assignment.wider)
            rows = divided.rows(scratch, classed)
            proof = divided.proof(scratch, rows.table)
            if judged and not levels:
                classed, recoded, groups = merge_failing_groups.recode_classes(
                    scratch,
                    classed,
                    assignment.spans,
                    judged,
                    lambda rows, spans: form.recode(scratch, rows, spec.format, spans, seed, levels),
                    divided.blocks,
                )
                notes += division.notes(groups, judged)
            else:
                recoded = form.recode(scratch, rows, spec.format, assignment.spans, seed, levels)
        recoded = replace(
            recoded,
            left_out=lost.left_out,
            omitted=omitted,
            starred=levels.starred,
            starred_rows=lost.starred,
            wider=assignment.wider or ready.lasting,  # there rows leave classes that stay
            members=proof.members,
        )
    with watch.stage("verify"):
        attained = verify_staged(scratch, classed, recoded, spec.format)
        recoded = replace(recoded, attained=attained)
    generalized = bool(levels) or lost.left_out > 0
    return DividedSource(
        classed,
        recoded,
        assignment.execution,
        tuple(notes),
        seed,
        joint,
        proof,
        generalized,
        assignment.search if trusted else {},
    )


def measure_loss(scratch: Scratch, spec: ReleaseSpec, classes: DividedSource) -> LossReport:
    """Losses of the rows in their classes, by every metric that is asked."""
    encoded, classed, recoded = classes.encoded, classes.classed, classes.recoded
    attributes = [
        Attribute(d.code, d.reading.name, d.reading.spec.weight, d.size, d.reading.treatment in (None, "ordered"))
        for d in encoded.quasi
    ]
    boxes = recoded.members.count_published(scratch, recoded.boxes, [domain.code for domain in encoded.quasi])
    least_k = recoded.members.least(spec.privacy.k)
    loss = measure(scratch, boxes, recoded.groups, attributes, least_k, recoded)
    loss = recoded.form.loss(scratch, classed, recoded, loss)
    if classes.generalized and len(encoded.sensitive) == 1:
        (value,) = (domain.reading.alias for domain in encoded.sensitive)
        cm = measure_classification(scratch, classed.table, recoded.groups, value, recoded, encoded.rows)
        loss = replace(loss, cm=cm)
    if spec.metrics:
        regions = recoded.form.regions(scratch, encoded, recoded)
        facts = Facts(scratch, classed, regions, recoded.groups, recoded, classes.joint)
        loss = measure_asked(facts, spec.metrics, loss)
    return loss
