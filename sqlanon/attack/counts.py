"""Attacks on a release of counts: readers who look for small cells, with the view and their own knowledge.

The certificate proves the promises, with tables; here the readers compute, with linear programs, and share
nothing with it.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.classes import label_of, see_classes
from sqlanon.attack.lineages import see_lineages
from sqlanon.attack.persons import PersonTarget
from sqlanon.attack.sums import add_sums, attack_sums
from sqlanon.attack.versions import add_readers, see_new_rows
from sqlanon.engines.rows import read_integer
from sqlanon.progress import Progress, SilentProgress
from sqlanon.query.counts.published_tables import CountsSpelling, read_tables
from sqlanon.release.audit.of_counts import shape_of_entry
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.other_counts import batches_of, earlier_of
from sqlanon.release.catalog.views import spell_table
from sqlanon.release_kind import COUNTS
from sqlanon.results.counts import CountsAttackReport, CountsReader, SumsReader
from sqlanon.statistics.joined_tables import JoinedSystem, Key, join_tables
from sqlanon.statistics.nearest import fit_atoms
from sqlanon.statistics.nights import batch_of
from sqlanon.statistics.past_versions import PastTables
from sqlanon.statistics.private_tables import Tables, kept_of
from sqlanon.statistics.protections import read_stored_statistics
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.reader_cells import HIDDEN, Label, SeenCells, list_atoms
from sqlanon.statistics.spans import find_spans
from sqlanon.statistics_spec import STATUS, CellKeySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.engines.base import Engine
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.statistics.shape import Shape

MOST_PAIRS = 2000
"""Pairs of an insider and a small cell that are tried, about; `victims` names a number of insiders."""
MOST_SECONDS = 300
"""After them intervals are wider, and count as undecided."""


def attack_counts(
    engine: Engine, entry: Entry, *, insiders: int | None = None, progress: Progress | None = None
) -> CountsAttackReport:
    """Look for the small cells of a published release of counts.

    Args:
        engine: the database of the release and the private tables.
        entry: version of the release.
        insiders: how many are tried at most, drawn at random.
        progress: gets the stages.

    Raises:
        UnsupportedError: HiGHS is not installed, or there are too many combinations.
        DatabaseError: the private tables cannot be read.

    Cost: linear programs for the small cells, once for outsiders, and for each insider for those next to his own.
    """
    assert entry.view is not None
    reporter, shape = progress or SilentProgress(), shape_of_entry(entry)
    until = time.monotonic() + MOST_SECONDS
    reporter.stage(entry.release, "read")
    view, shown = spell_table(entry.view), str(entry.view)
    parsed = read_tables(engine, {shown: view}, CountsSpelling())
    joined = join_tables(parsed.columns, parsed.tables, parsed.least)
    order = [[column.name.lower() for column in parsed.columns].index(column.name.lower()) for column in shape.columns]
    batches, earlier = batches_of(entry), earlier_of(entry)
    if len(batches) > 1 or earlier:
        came = [_read_private(engine, shape, entry.counts, order, batch) for batch in batches]
        rows = see_new_rows(parsed.columns, joined, batches, [truth for truth, _ in came], shape)
        knowledge = [private_counts for _, private_counts in came]
        if earlier:  # the first rows of the last lineage are those of all versions before
            with Scratch(engine) as scratch:
                cells = batch_of(scratch, kept_of(entry.counts), batches[0]).cells
                lineages = see_lineages(scratch, shape, (PastTables(*entry.past), cells), joined, parsed.columns, order)
            rows[0], knowledge[0] = lineages.rows, lineages.insiders
        targets = [
            _Target(new_rows.seen, new_rows.value, new_rows.small, shape.threshold, lambda: until - time.monotonic())
            for new_rows in rows
        ]
        reporter.stage(entry.release, "all versions")
        kinds = _read_versions(targets, knowledge, insiders, promised=shape.insiders)
        if shape.neighbour is not None and not earlier:  # it has the rows of the first version
            with Scratch(engine) as scratch:
                atoms = batch_of(scratch, kept_of(entry.counts), batches[0]).atoms
                first = replace(joined, seen=replace(rows[0].seen, ends=None, hidden=1))
                seen = see_classes(scratch, shape, atoms, first, order).seen
            kinds.insert(2, targets[0].over(seen).read("rows", seen, promised=True))
        of_sums: list[tuple[SumsReader, ...]] = []
        for batch, new_rows in zip(batches, rows, strict=True):
            with Scratch(engine) as scratch:
                batch_tables = batch_of(scratch, kept_of(entry.counts), batch)
                night = replace(joined, seen=new_rows.seen)
                own_shape = shape if batch == batches[0] and not earlier else replace(shape, neighbour=None)
                of_sums.append(
                    attack_sums(scratch, own_shape, batch_tables, night, order, lambda: until - time.monotonic())
                )
        reporter.finish(entry.release)
        small = sum(int(new_rows.small.sum()) for new_rows in rows)
        versions = len(earlier) + len(batches)
        return _report(entry, shape, joined, small, kinds, sums=add_sums(of_sums), versions=versions)
    truth, private_counts = _read_private(engine, shape, entry.counts, order)
    if shape.patterns:
        reporter.stage(entry.release, "rows and persons")
        name = next(name for name, column in shape.measures if column == "persons")
        of_persons = read_tables(engine, {shown: view}, CountsSpelling(value=name))
        seen_persons = join_tables(of_persons.columns, of_persons.tables, of_persons.least)
        small_cells = _target_persons(shape, seen_persons, joined, truth, lambda: until - time.monotonic())
        some = max(1, MOST_PAIRS // max(int(small_cells.small.sum()), 1)) if insiders is None else insiders
        readers = small_cells.attack(private_counts, some, promised=shape.insiders)
        if shape.neighbour is not None:
            reporter.stage(entry.release, "readers of the rows as well")
            with Scratch(engine) as scratch:
                both = see_classes(scratch, shape, entry.counts["atoms"], seen_persons, order).seen
            readers.insert(2, small_cells.over(both).read("rows", promised=True))
        sums_readers: tuple[SumsReader, ...] = ()
        if shape.sums:
            reporter.stage(entry.release, "sums")
            with Scratch(engine) as scratch:
                tables = kept_of(entry.counts)
                sums_readers = attack_sums(scratch, shape, tables, joined, order, lambda: until - time.monotonic())
        reporter.finish(entry.release)
        return _report(entry, shape, joined, int(small_cells.small.sum()), readers, sums=sums_readers)
    statistics = read_stored_statistics(entry.policy["statistics"])
    most = shape.threshold - 1 if statistics.method == "round" else shape.threshold
    target = _Target(
        joined.seen,
        np.array([truth[key][0] for key in joined.keys], np.int64),
        np.array([truth[key][1] < shape.threshold for key in joined.keys], bool),
        most,
        lambda: until - time.monotonic(),
    )
    reporter.stage(entry.release, "outsiders")
    naive = replace(joined.seen, value=np.where(target.small, HIDDEN, target.value), ends=None)
    attacks = [
        target.read("naive", naive, promised=False),
        target.read("outsider", joined.seen, promised=statistics.method != "cell_key"),
    ]
    if shape.neighbour is not None:
        reporter.stage(entry.release, "readers of the rows as well")
        with Scratch(engine) as scratch:
            seen = see_classes(scratch, shape, entry.counts["atoms"], joined, order).seen
        attacks.append(target.over(seen).read("rows", seen, promised=True))
    if isinstance(statistics.other, CellKeySpec):
        if statistics.other.rule is None:
            attacks.append(target.average(statistics.other.deviation))
    else:
        reporter.stage(entry.release, "insiders")
        some = max(1, MOST_PAIRS // max(int(target.small.sum()), 1)) if insiders is None else insiders
        attacks.append(target.read_insiders(private_counts, some, promised=statistics.other is None and shape.insiders))
    sums: tuple[SumsReader, ...] = ()
    if shape.sums:
        reporter.stage(entry.release, "sums")
        with Scratch(engine) as scratch:
            kept_tables = kept_of(entry.counts)
            sums = attack_sums(scratch, shape, kept_tables, joined, order, lambda: until - time.monotonic())
    reporter.finish(entry.release)
    return _report(entry, shape, joined, int(target.small.sum()), attacks, sums=sums)


def _target_persons(
    shape: Shape,
    persons: JoinedSystem,
    rows: JoinedSystem,
    truth: Mapping[Key, tuple[int, int, bool]],
    seconds: Callable[[], float],
) -> PersonTarget:
    """The small cells where persons have several rows; cells in the order of the persons."""
    places = {key: place for place, key in enumerate(rows.keys)}
    shown = rows.seen.value[[places[key] for key in persons.keys]] if shape.has_rows else None
    counts = np.array([truth[key][:2] for key in persons.keys], np.int64).reshape(-1, 2)
    levels = np.array([[level for level, _ in key] for key in persons.keys], np.int64).T
    small = counts[:, 1] < shape.threshold
    return PersonTarget(persons.seen, shown, levels, counts[:, 1], counts[:, 0], small, shape.threshold, seconds)


def _report(
    entry: Entry,
    shape: Shape,
    joined: JoinedSystem,
    small: int,
    attacks: Sequence[CountsReader],
    *,
    sums: tuple[SumsReader, ...] = (),
    versions: int = 0,
) -> CountsAttackReport:
    return CountsAttackReport(
        f"{entry.release}@{entry.version}",
        str(entry.view),
        entry.source,
        shape.threshold,
        len(joined.keys),
        sum(bool(hidden_cells) for hidden_cells in joined.hidden),
        small,
        tuple(attacks),
        sums,
        versions,
        STATUS[read_stored_statistics(entry.policy["statistics"]).method],
    )


def _read_versions(
    targets: Sequence[_Target], insiders_known: Sequence[Known], insiders: int | None, *, promised: bool
) -> list[CountsReader]:
    """Readers of all versions, without and with the knowledge of persons who are alone among the new rows of a cell."""
    naive, readers, alone = [], [], []
    for target, counts in zip(targets, insiders_known, strict=True):
        shown = replace(target.seen, value=np.where(target.small, HIDDEN, target.value), hidden=1, ends=None)
        naive.append(target.read("naive", shown, promised=False))
        readers.append(target.read("versions", target.seen, promised=True))
        some = max(1, MOST_PAIRS // max(int(target.small.sum()), 1)) if insiders is None else insiders
        alone.append(target.read_insiders(counts, some, promised=promised))
    return [add_readers("naive", naive), add_readers("versions", readers), add_readers("insider", alone)]


def find_counts(engine: Engine, release: str | None) -> Entry | None:
    """The published version of a release of counts; None: it is none, or there are several to choose from.

    Args:
        engine: the database.
        release: name or view of the release; None: the only release.
    """
    catalog = Catalog(engine)
    if release is None:
        places = catalog.places()
        release = places[0].release if len(places) == 1 else None
    entry = catalog.find_published(release) if release is not None else None
    return entry if entry is not None and entry.kind is COUNTS else None


Known = Mapping[int, Mapping[tuple[Label, ...], int]]
"""Of each insider the numbers of his atoms."""


def _read_private(
    engine: Engine, shape: Shape, stored: Tables, order: Sequence[int], batch: int | None = None
) -> tuple[dict[Key, tuple[int, int, bool]], Known]:
    """The numbers of each cell, and the knowledge of insiders; columns in the order of the readers.

    Numbers are rows and persons; with ``batch`` those of the new rows of a version, and whether they are hidden.
    """
    many, context = len(shape.columns), shape.context()
    places = np.argsort(order).tolist()
    with Scratch(engine) as scratch:
        if batch is not None:
            tables = batch_of(scratch, kept_of(stored), batch)
            stored = {"cells": tables.cells, "atoms": tables.atoms}
        truth = {}
        for row in scratch.fetch("statistics/true_cells", cells=stored["cells"], batches=batch is not None, **context):
            nodes = [
                (
                    read_integer(row[place]),
                    label_of(row[many + place]) if row[place] != shape.columns[place].levels else None,
                )
                for place in range(many)
            ]
            truth[tuple(nodes[place] for place in places)] = (
                read_integer(row[-2]),
                read_integer(row[-1]),
                row[-3] == 1,
            )
        inside, insiders = scratch.table("inside"), scratch.table("insiders")
        scratch.execute("statistics/inside", inside=inside, cells=stored["cells"], atoms=stored["atoms"], **context)
        scratch.execute(
            "statistics/insiders", insiders=insiders, cells=stored["cells"], inside=inside, atoms=stored["atoms"]
        )
        private_counts: dict[int, dict[tuple[Label, ...], int]] = {}
        for row in scratch.fetch("statistics/insider_atoms", insiders=insiders, atoms=stored["atoms"], **context):
            labels = [label_of(cell) for cell in row[1:-1]]
            atom = tuple(labels[place] for place in places)
            private_counts.setdefault(read_integer(row[0]), {})[atom] = read_integer(row[-1])
    return truth, private_counts


@dataclass(frozen=True)
class _Target:
    """The small cells that readers look for, with their numbers; each may have ``most``, it is promised."""

    seen: SeenCells
    value: Longs
    small: Flags
    most: int
    seconds: Callable[[], float]

    def over(self, seen: SeenCells) -> _Target:
        """The same cells, the first of a system of more."""
        more = len(seen.value) - len(self.value)
        return replace(self, seen=seen, value=np.pad(self.value, (0, more)), small=np.pad(self.small, (0, more)))

    def read(self, name: str, seen: SeenCells, *, promised: bool) -> CountsReader:
        """A reader of some cells."""
        reach = Reach(seen, seconds=self.seconds)
        spans = [(*span, 0) for span in find_spans(seen, reach, list(self._sought.values()), self.seconds)]
        return self._count(name, (1, 1), spans, promised=promised)

    def read_insiders(self, knowledge: Known, most: int, *, promised: bool) -> CountsReader:
        """Persons who are alone in cells, and look for the small cells of the same blocks."""
        owners = sorted(knowledge)
        insiders = owners if len(owners) <= most else sorted(random.Random(0).sample(owners, most))  # noqa: S311
        plain = Reach(self.seen)
        spans: list[tuple[int, int | None, bool, int]] = []
        for owner in insiders:
            own_counts = {self.seen.places[atom]: n for atom, n in knowledge[owner].items() if atom in self.seen.places}
            reach = Reach(self.seen, own_counts, self.seconds)
            near = plain.blocks_of(np.array(list(own_counts), np.int64))
            for cell, atoms in self._sought.items():
                contributed = sum(own_counts.get(atom, 0) for atom in atoms.tolist())
                if contributed < self.value[cell] and near & plain.blocks_of(atoms):
                    excess = sum(max(own_counts[atom] - 1, 0) for atom in atoms.tolist() if atom in own_counts)
                    spans.append((*reach.span(atoms), excess))
        return self._count("insider", (len(insiders), len(owners)), spans, promised=promised)

    def average(self, deviation: int) -> CountsReader:
        """A reader of numbers with noise, who fits numbers that add up, and rounds them."""
        assert self.seen.ends is not None
        _, high = self.seen.ends
        result = (high - deviation).astype(np.float64)
        margins = sum(np.bincount(np.unique(row[row >= 0]), minlength=len(result)) for row in self.seen.of)
        start = np.ones(self.seen.of.shape[1])
        atoms = fit_atoms(self.seen.of, result, 1.0 / np.maximum(margins, 1), start)
        sought = self._sought
        exact = sum(
            round(float(atoms[atom_places].sum())) == int(self.value[cell]) for cell, atom_places in sought.items()
        )
        return CountsReader("averaging", 1, 1, len(sought), exact, 0, 0, exact / max(len(sought), 1), promised=False)

    @cached_property
    def _sought(self) -> dict[int, Longs]:
        """The atoms of each small cell."""
        atoms_of: dict[int, Longs] = {}
        for cell, atoms in list_atoms(self.seen.of):
            if self.small[cell]:
                atoms_of.setdefault(cell, atoms)
        return atoms_of

    def _count(
        self, name: str, readers: tuple[int, int], rows: Iterable[tuple[int, int | None, bool, int]], *, promised: bool
    ) -> CountsReader:
        cells = exact = below = undecided = 0
        chances = []
        for low, high, reached, excess in rows:
            cells += 1
            exact += low == high
            below += high is not None and high < self.most + excess
            undecided += not reached
            chances.append(0.0 if high is None else 1 / (high - low + 1))
        # Rounded once: engines list cells in any order, and the share is the same of each.
        guess = math.fsum(chances) / max(cells, 1)
        return CountsReader(name, *readers, cells, exact, below, undecided, guess, promised)
