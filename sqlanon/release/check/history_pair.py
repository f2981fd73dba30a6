"""Two versions of one release compared: their classes are linked, and every group that a reader of both can distinguish is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.privacy import Grouped, requirements
from sqlanon.privacy.diversity import FrequencyDiversity
from sqlanon.privacy.kanonymity import KAnonymity
from sqlanon.privacy.population import of_population, of_rows
from sqlanon.release.check import persons
from sqlanon.release.check.history_candidates import NO_DIVERSITY, candidate_sets
from sqlanon.release.store.catalog_entry import Entry
from sqlanon.release.store.lineage import lineage_of
from sqlanon.results import HistoryReport, HistorySets
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import hashes_of

BY_ROWS = "persons: whole: persons are counted in each group of rows, and not in all groups together that the rows of one person are in"
"""Numbers of persons differ from version to version, so that a person of two versions is not known to be one."""


class Side:
    """One version in a comparison: its history table, and what its hashes were made of.

    Args:
        version: its number.
        history: its table.
        columns: (name, role) of its policy's columns.
        key: the key's columns.
        types: (name, type) of the source's columns: the same value of another type may be written, and so hashed, otherwise.
        rows_are: what its policy calls its rows.
        persons: of events: per identifier that is counted, its column in the history.
        own_boxes: every row has a box of its own, and the history all that it fits.
    """

    def __init__(
        self, version: int, history: TableRef, columns: Sequence[tuple[str, str]], key: Sequence[str],
        types: Sequence[tuple[str, str]], rows_are: str, persons: Mapping[str, str],
        *, own_boxes: bool = False,
    ) -> None:  # fmt: skip
        self.version = version
        self.own_boxes = own_boxes
        self.rows_are = rows_are
        self.persons = persons
        self.history = history
        kinds = {name.lower(): kind for name, kind in types}
        read = [(name.lower(), role) for name, role in columns if role in ("quasi", "sensitive")]
        # As the rows' marks are made: quasi columns first.
        self.marked = [
            (name, role, kinds.get(name)) for name, role in sorted(read, key=lambda column: column[1])
        ]
        self.sensitive = [name for name, role in read if role == "sensitive"]
        self.key = sorted((name.lower(), kinds.get(name.lower(), "")) for name in key)


def history_of(scratch: Scratch, entry: Entry) -> TableRef:
    """The history of a version: its own table, or what its lineage says of it.

    Classes of a lineage that publish the same are one, as readers see them. Where persons are counted, every class is by itself, as what
    is promised of persons is promised of each: it has no exit groups, and a union of classes of several cohorts may fail what its parts meet.
    """
    lineage = lineage_of(scratch.engine, entry)
    if lineage is None:
        return entry.history
    table = scratch.named(f"history_v{entry.version}")
    if table not in scratch.made:
        sensitive = range(1, 1 + sum(column["role"] == "sensitive" for column in entry.policy["columns"]))
        persons_of = list(hashes_of(persons.counted_in(entry.policy)).values())
        # Of an older lineage somebody may have dropped its classes.
        kept = not persons_of and scratch.engine.exists(lineage.classes)
        scratch.execute(
            "frozen/history", history=scratch.table(f"history_v{entry.version}"), rows=lineage.rows, at=entry.version, sensitive=sensitive,
            persons=persons_of, classes=lineage.classes if kept else None,
            parts=lineage.published_parts() if kept else [],
        )  # fmt: skip
    return table


def side_of(scratch: Scratch, entry: Entry) -> Side:
    """A version of the catalog; an older sqlanon kept no persons in its history."""
    persons_of, history = hashes_of(persons.counted_in(entry.policy)), history_of(scratch, entry)
    if persons_of:
        there = {column.name for column in scratch.engine.look_up([history]).columns(history)}
        persons_of = persons_of if there.issuperset(persons_of.values()) else {}
    columns = [(column["name"], column["role"]) for column in entry.policy["columns"]]
    key = entry.policy.get("key") or ()
    rows_are = entry.policy.get("rows_are", "persons")
    return Side(
        entry.version, history, columns, key, entry.source_columns or (), rows_are, persons_of, own_boxes=bool(entry.certificate)
    )  # fmt: skip


def compare(scratch: Scratch, old: Side, new: Side, privacy: PrivacySpec, fewest: int) -> HistoryReport:
    """Link the classes of two versions and measure every group that a reader of both can distinguish.

    Where the policies read other columns, or columns of other types, rows are matched by key alone, and changed
    values are not noticed. Where the keys differ, or match nowhere, the result is ``unknown``, and every new row fails.

    Args:
        scratch: the run, or the audit.
        old: the earlier version.
        new: the later version.
        privacy: what every group must meet.
        fewest: persons in every group, at least, by each identifier that its version counts; 1 asks for none.

    Cost: three joins of the two histories by key, and one step a link.
    """
    if old.key != new.key:
        return _unknown(scratch, old, new, "the key's columns or their types changed")
    if old.own_boxes or new.own_boxes:
        return _of_candidates(scratch, old, new, privacy)
    marked = old.marked == new.marked
    shared = [name for name in new.sensitive if name in old.sensitive]
    parts = _parts(scratch, old, new, marked)
    tables = {
        kind: scratch.table(f"{kind}{old.version}_{new.version}") for kind in ("arrived", "left", "common")
    }
    failing = {kind: scratch.table(f"failing_{kind}{old.version}_{new.version}") for kind in tables}
    sides = {"arrived": new, "left": old, "common": new}
    with scratch.together():
        for kind, here, there, at in (("arrived", new, old, parts[1]), ("left", old, new, parts[0])):
            scratch.execute(
                "history/apart", sets=tables[kind], here=here.history, there=there.history, parts=at, values=_values(here, shared),
                persons=list(here.persons.values()), marked=marked,
            )  # fmt: skip
        scratch.execute(
            "history/common", sets=tables["common"], old=old.history, new=new.history, values=_values(new, shared),
            persons=list(new.persons.values()), marked=marked,
        )  # fmt: skip
        for kind, sets in tables.items():
            _find_failing(scratch, sets, failing[kind], privacy, sides[kind], shared, fewest)
        rows = scratch.fetch("history/sizes", tables=[*tables.values(), *failing.values()])[0]
        total = int(str(scratch.fetch("history/count", tables=list(failing.values()))[0][0]))
    sizes = [int(str(cell)) for cell in rows]
    measured = {
        kind: _measured(scratch, tables[kind], sides[kind], shared, size, below)
        for kind, size, below in zip(tables, sizes, sizes[len(tables) :], strict=False)
    }
    with scratch.together():
        for table in (*parts[:2], *tables.values(), *failing.values()):
            scratch.drop(table)
    if measured["arrived"].rows and measured["left"].rows and not measured["common"].rows:
        return _unknown(scratch, old, new, "no row of the one has its like in the other")
    return HistoryReport(
        old.version,
        new.version,
        marked,
        parts[2],
        measured["arrived"],
        measured["left"],
        measured["common"],
        total,
        not_measured="; ".join(
            what for what in (*_unmeasured(old, new, privacy, fewest), _in_population(privacy)) if what
        ),
    )


def _in_population(privacy: PrivacySpec) -> str:
    """That requirements over a population are not measured; empty where none is asked."""
    asked = [one.name for one in of_population(requirements(privacy, ()))]
    what = " and ".join(dict.fromkeys(asked))
    return f"{what}: rows of the population in groups of two versions are not counted" if what else ""


def _of_candidates(scratch: Scratch, old: Side, new: Side, privacy: PrivacySpec) -> HistoryReport:
    """The same where one version or both have boxes of their own: groups are the candidates of each row."""
    sets = candidate_sets(scratch, old, new, privacy.k)
    if sets["arrived"].rows and sets["left"].rows and not sets["common"].rows:
        return _unknown(scratch, old, new, "no row of the one has its like in the other")
    diverse = len(of_rows(requirements(privacy, tuple(new.sensitive), ()))) > 1
    return HistoryReport(
        old.version, new.version, False, 0, sets["arrived"], sets["left"], sets["common"],
        sum(one.failing for one in sets.values()), not_measured=NO_DIVERSITY if diverse else "", candidates=True,
    )  # fmt: skip


def _unmeasured(old: Side, new: Side, privacy: PrivacySpec, fewest: int) -> Iterator[str]:
    if fewest > 1 and (lacking := _uncounted(old, new)):
        yield lacking
    if privacy.whole:
        yield BY_ROWS


def _uncounted(old: Side, new: Side) -> str:
    """Of which version persons are not counted, and why."""
    lacking = [side.version for side in (old, new) if side.rows_are == "events" and not side.persons]
    if not lacking:
        return ""
    versions = " and ".join(f"version {version}" for version in lacking)
    return f"persons of {versions}: no identifier without accept_repeats was kept with its history"


def _unknown(scratch: Scratch, old: Side, new: Side, why: str) -> HistoryReport:
    rows = int(str(scratch.fetch("history/published", history=new.history)[0][0]))
    nothing = HistorySets(0, 0, None, None, 0)
    return HistoryReport(old.version, new.version, False, 0, nothing, nothing, nothing, rows, why)


def _values(side: Side, names: Sequence[str]) -> list[str]:
    return [f"s{side.sensitive.index(name) + 1}" for name in names]


def _parts(scratch: Scratch, old: Side, new: Side, marked: bool) -> tuple[TableRef, TableRef, int]:
    """Scratch tables (class, part) of both versions, and how many components there are."""
    # Most commands compare no versions, and need not import a compiler.
    from sqlanon.kernels.components import components

    engine = scratch.engine
    known = [
        scratch.fetch_arrays(scratch.sql("history/classes", history=side.history), ["int64"])[0]
        for side in (old, new)
    ]
    links = scratch.fetch_arrays(
        scratch.sql("history/links", old=old.history, new=new.history, marked=marked), ["int64", "int64"]
    )
    places = [
        np.searchsorted(classes, ends).astype(np.int64) for classes, ends in zip(known, links, strict=True)
    ]
    found = components(places[0], places[1], len(known[0]), len(known[1]))
    tables = [scratch.table(f"parts{side.version}_{new.version}") for side in (old, new)]
    halves = (found[: len(known[0])], found[len(known[0]) :])
    for table, classes, part in zip(tables, known, halves, strict=True):
        engine.load_arrays(table, {"class": classes, "part": part})
    return tables[0], tables[1], len(np.unique(found))


def _find_failing(
    scratch: Scratch, sets: TableRef, failing: TableRef, privacy: PrivacySpec, whole: Side, shared: Sequence[str],
    fewest: int,
) -> None:  # fmt: skip
    """Make the table ``failing`` of the rows of the version ``whole`` whose group does not meet all that is asked."""
    names = [f"v{i + 1}" for i in range(len(shared))]
    groups = ["place", "beside"]
    counted = whole.persons
    asked = [one for one in of_rows(requirements(privacy, tuple(shared), tuple(counted))) if not one.across]
    prefix = failing.name.rpartition("_")[2]
    below = [scratch.table(f"{prefix}_below{i}") for i in range(len(asked))]
    rows_of = Grouped(
        sets, groups, names, None, whole.history, _values(whole, shared), list(counted.values())
    )
    for requirement, table in zip(asked, below, strict=True):
        requirement.below(scratch, table, rows_of)
    if fewest > 1:
        for i, column in enumerate(counted.values()):
            few = scratch.table(f"{prefix}_few{i}")
            scratch.execute("history/few", few=few, sets=sets, groups=groups, person=column, fewest=fewest)
            below.append(few)
    scratch.execute("history/failing", failing=failing, sets=sets, below=below, groups=groups)
    for table in below:
        scratch.drop(table)


def _measured(
    scratch: Scratch, sets: TableRef, whole: Side, shared: Sequence[str], rows: int, failing: int
) -> HistorySets:
    """Measure the groups of ``rows`` rows of the version ``whole``, of which so many fail."""
    if not rows:
        return HistorySets(0, 0, None, None, 0)
    names = [f"v{i + 1}" for i in range(len(shared))]
    groups = ["place", "beside"]
    one = Fraction(1)
    grouped = Grouped(sets, groups, names)
    sizes = KAnonymity(one).measure(scratch.engine, grouped).sizes
    assert sizes is not None
    diverse = [
        FrequencyDiversity(one, name, i).measure(scratch.engine, grouped).reached
        for i, name in enumerate(names)
    ]
    held = persons.measure(scratch.engine, sets, groups, whole.persons).fewest
    return HistorySets(
        rows, sizes.classes, sizes.smallest, float(min(diverse)) if diverse else None, failing,
        min(held.values(), default=None),
    )  # fmt: skip
