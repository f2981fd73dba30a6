"""One run of one release: snapshot, encode, method, recode, verify, publish (design, section 3)."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.loss import Attribute, measure, reconstruction_error
from sqlanon.methods.base import Context
from sqlanon.methods.refinement import refined
from sqlanon.progress import Progress, Silent, Stopwatch
from sqlanon.release import accuracy
from sqlanon.release.anatomy import regroup
from sqlanon.release.catalog import Catalog
from sqlanon.release.guards import disclosed
from sqlanon.release.prepare import Prepared, prepare
from sqlanon.release.publish import publish, reconcile
from sqlanon.release.recode import recode
from sqlanon.release.target import Publication, is_pair, target_of
from sqlanon.release.verify import verify_staged
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.encode import attach_classes, encode
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


def run(engine: Engine, spec: ReleaseSpec, machine: Machine, progress: Progress | None = None) -> RunReport:
    """Make one release, verify it and publish it, or raise and leave everything as it was.

    Raises:
        LockedError: somebody runs this release now.
        InfeasibleError: the requirements, or what is accepted at least, cannot be reached.
        PrivacyViolation: verify refused what was made.
    """
    progress = progress or Silent()
    watch = Stopwatch(spec.name, progress)
    try:
        with engine.lock(f"release {spec.name}"):
            reconcile(engine, spec.name)
            target = target_of(engine, spec)
            with Scratch(engine) as scratch:
                ready = prepare(scratch, spec, watch)
                return _make(engine, spec, machine, watch, scratch, ready, target)
    finally:
        progress.finish(spec.name)


def _make(
    engine: Engine, spec: ReleaseSpec, machine: Machine, watch: Stopwatch, scratch: Scratch, ready: Prepared,
    target: Publication,
) -> RunReport:  # fmt: skip
    with watch.stage("encode"):
        encoded = encode(scratch, ready.roles, ready.stage, ready.quasi, ready.sensitive, ready.rows,
                         tuple(ready.identifiers.values()))  # fmt: skip
    seed = spec.seed if spec.seed is not None else secrets.randbits(62)
    with watch.stage("method") as progress:
        context = Context(
            scratch, encoded, ready.requirements, spec.execution, spec.memory or machine.memory, machine.threads,
            progress, seed, spec.privacy.accuracy,
        )  # fmt: skip
        assignment = ready.method.assign(context)
        if spec.refine is not None:
            assignment = refined(context, assignment, spec.refine)
    with watch.stage("recode"):
        classed = attach_classes(scratch, encoded, assignment.table, tuple(ready.identifiers.values()))
        notes = accuracy.reached(scratch, spec, ready.requirements, encoded, classed) + assignment.notes
        if spec.format.kind == "anatomy":
            recoded = regroup(scratch, encoded, classed, spec.format, seed)
        else:
            recoded = recode(scratch, encoded, classed, spec.format, assignment.spans)
    with watch.stage("verify"):
        verify_staged(scratch, encoded, classed, recoded, spec.format)
        fewest = _identifiers(scratch, classed, recoded.released, ready)
    with watch.stage("recode"):
        attributes = [Attribute(d.code, d.reading.name, d.reading.spec.weight, d.size) for d in encoded.quasi]
        loss = measure(scratch, recoded.boxes, recoded.released, attributes, spec.privacy.k)
        if spec.format.kind == "anatomy":
            (alias,) = (domain.reading.alias for domain in encoded.sensitive)
            loss = replace(loss, rce=reconstruction_error(scratch, classed, alias))
    with watch.stage("verify"):
        accuracy.held(spec, scratch, encoded, recoded, loss)
    report = RunReport(
        release=spec.name, version=target.version, source=str(ready.roles.relation.ref), published=target.shown,
        rows=encoded.rows, suppressed=0, classes=recoded.classes, min_class=recoded.min_class,
        max_class=recoded.max_class, requirements=(), loss=loss, seconds={}, verified=False,
        method=ready.method.describe(), execution=assignment.execution, format=spec.format.kind,
        columns=tuple(column.name for column in recoded.columns), min_identifiers=fewest,
        warnings=(*disclosed(spec), *neighbours(engine, spec, target)), published_sensitive=target.shown_sensitive,
        notes=notes,
    )  # fmt: skip
    verified = publish(
        engine, spec, target, scratch, encoded, classed, recoded, ready.requirements, report, watch, seed
    )
    return replace(verified, seconds=watch.total())


def _identifiers(scratch: Scratch, classed: TableRef, released: TableRef, ready: Prepared) -> dict[str, int]:
    if not ready.identifiers:
        return {}
    aliases = list(ready.identifiers.values())
    row = scratch.fetch("verify/identifiers", classed=classed, released=released, identifiers=aliases)[0]
    return {name: int(str(cell)) for name, cell in zip(ready.identifiers, row, strict=True)}


def neighbours(engine: Engine, spec: ReleaseSpec, target: Publication) -> list[str]:
    """Other releases of the same source that the same readers can see."""
    source = str(engine.relation(spec.source).ref)
    found = []
    for entry in Catalog(engine).entries():
        if entry.status != "published" or entry.release == spec.name or entry.source != source:
            continue
        readers = set(entry.policy.get("readers", ())) & set(spec.readers)
        same_place = entry.view_schema == target.view.schema and not entry.file and not target.file
        if readers or same_place:
            pair = is_pair(entry) or target.pair
            found.append(
                f"release {entry.release} shows the same source to the same readers; together they may reveal more than "
                f"each{how_to_measure(entry.release, spec.name, pair)}"
            )
    return found


def how_to_measure(first: str, second: str, pair: bool) -> str:
    """The end of a warning about two releases; ``pair``: one of them has format anatomy, which audits of two leave out."""
    if pair:
        return ", and no audit measures it for format anatomy: give no reader both"
    return f": sqlanon audit --together {first} {second}"
