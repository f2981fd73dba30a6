"""Comparison of two versions of one release.

Their classes are linked, and every group that a reader of both can distinguish is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.privacy.base import Grouped
from sqlanon.privacy.diversity.requirement import FrequencyDiversity
from sqlanon.privacy.kanonymity.requirement import KAnonymity
from sqlanon.privacy.population import of_population, of_rows
from sqlanon.privacy.requirements import make_requirements
from sqlanon.release.history.candidate_sets import NO_DIVERSITY, candidate_sets
from sqlanon.release.history.side import Side, counts_candidates
from sqlanon.release.verify import persons
from sqlanon.results import HistoryReport, HistorySets
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

BY_ROWS = (
    "persons: whole: persons are counted in each group of rows, and not in all groups together that the rows of one "
    "person are in"
)
"""Numbers of persons differ from version to version, so that nobody knows that persons of two versions are the same."""


def compare(scratch: Scratch, old: Side, new: Side, privacy: PrivacySpec, fewest: int) -> HistoryReport:
    """Link the classes of two versions and measure every group that a reader of both can distinguish.

    Where the policies read other columns, or columns of other types, rows are matched by key alone, and changed
    values are not noticed. Where the keys differ, or match nowhere, the result is ``unknown``, and every new row fails.

    Args:
        scratch: the run, or the audit.
        old: the earlier version.
        new: the later version.
        privacy: the requirements on every group.
        fewest: persons in every group, at least, by each identifier that the version counts; 1 asks for none.

    Cost: three joins of the two histories by key, and a step a link.
    """
    if old.key != new.key:
        return _report_unknown(scratch, old, new, "the key's columns or their types changed")
    if counts_candidates(old, new):
        return _of_candidates(scratch, old, new, privacy)
    marked = old.marked == new.marked
    shared = [name for name in new.sensitive if name in old.sensitive]
    parts = _parts(scratch, old, new, marked)
    tables = {kind: scratch.table(f"{kind}{old.version}_{new.version}") for kind in ("arrived", "left", "common")}
    failing = {kind: scratch.table(f"failing_{kind}{old.version}_{new.version}") for kind in tables}
    sides = {"arrived": new, "left": old, "common": new}
    with scratch.together():
        for kind, side, other_side, pair_parts in (("arrived", new, old, parts[1]), ("left", old, new, parts[0])):
            scratch.execute(
                "history/apart",
                sets=tables[kind],
                here=side.history,
                there=other_side.history,
                parts=pair_parts,
                values=_values(side, shared),
                persons=list(side.persons.values()),
                marked=marked,
            )
        scratch.execute(
            "history/common",
            sets=tables["common"],
            old=old.history,
            new=new.history,
            values=_values(new, shared),
            persons=list(new.persons.values()),
            marked=marked,
        )
        for kind, sets in tables.items():
            _find_failing(scratch, sets, failing[kind], privacy, sides[kind], shared, fewest)
        rows = scratch.fetch("history/sizes", tables=[*tables.values(), *failing.values()])[0]
        total = scratch.count("history/count", tables=list(failing.values()))
    sizes = [read_integer(cell) for cell in rows]
    measured = {
        kind: _measure_groups(scratch, tables[kind], sides[kind], shared, size, below)
        for kind, size, below in zip(tables, sizes, sizes[len(tables) :], strict=False)
    }
    with scratch.together():
        for table in (*parts[:2], *tables.values(), *failing.values()):
            scratch.drop(table)
    if measured["arrived"].rows and measured["left"].rows and not measured["common"].rows:
        return _report_unknown(scratch, old, new, "no row of the one has its like in the other")
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
            text for text in (*_list_unmeasured(old, new, privacy, fewest), _in_population(privacy)) if text
        ),
    )


def _in_population(privacy: PrivacySpec) -> str:
    """That requirements over a population are not measured; empty where none is asked."""
    names = [requirement.name for requirement in of_population(make_requirements(privacy, ()))]
    names_text = " and ".join(dict.fromkeys(names))
    return f"{names_text}: rows of the population in groups of two versions are not counted" if names_text else ""


def _of_candidates(scratch: Scratch, old: Side, new: Side, privacy: PrivacySpec) -> HistoryReport:
    """The same where one version or both have boxes of their own: groups are the candidates of each row."""
    sets = candidate_sets(scratch, old, new, privacy.k)
    if sets["arrived"].rows and sets["left"].rows and not sets["common"].rows:
        return _report_unknown(scratch, old, new, "no row of the one has its like in the other")
    diverse = len(of_rows(make_requirements(privacy, tuple(new.sensitive), ()))) > 1
    return HistoryReport(
        old.version,
        new.version,
        False,
        0,
        sets["arrived"],
        sets["left"],
        sets["common"],
        sum(candidate_sets.failing for candidate_sets in sets.values()),
        not_measured=NO_DIVERSITY if diverse else "",
        candidates=True,
    )


def _list_unmeasured(old: Side, new: Side, privacy: PrivacySpec, fewest: int) -> Iterator[str]:
    if fewest > 1 and (lacking := _explain_uncounted(old, new)):
        yield lacking
    if any(requirement.across for requirement in make_requirements(privacy, (), ("person",))):
        yield BY_ROWS


def _explain_uncounted(old: Side, new: Side) -> str:
    """Of which version persons are not counted, and why."""
    lacking = [side.version for side in (old, new) if side.rows_are == "events" and not side.persons]
    if not lacking:
        return ""
    versions = " and ".join(f"version {version}" for version in lacking)
    return f"persons of {versions}: no identifier without accept_repeats was kept with its history"


def _report_unknown(scratch: Scratch, old: Side, new: Side, why: str) -> HistoryReport:
    rows = scratch.count("history/published", history=new.history)
    nothing = HistorySets(0, 0, None, None, 0)
    return HistoryReport(old.version, new.version, False, 0, nothing, nothing, nothing, rows, why)


def _values(side: Side, names: Sequence[str]) -> list[str]:
    return [f"s{side.sensitive.index(name) + 1}" for name in names]


def _parts(scratch: Scratch, old: Side, new: Side, marked: bool) -> tuple[TableRef, TableRef, int]:
    """Scratch tables (class, part) of both versions, and how many components there are."""
    # Most commands compare no versions, and need not import a compiler.
    from sqlanon.release.history.kernels.components import find_components

    engine = scratch.engine
    known_classes = [
        scratch.fetch_arrays(scratch.sql("history/classes", history=side.history), ["int64"])[0] for side in (old, new)
    ]
    links = scratch.fetch_arrays(
        scratch.sql("history/links", old=old.history, new=new.history, marked=marked), ["int64", "int64"]
    )
    places = [
        np.searchsorted(classes, ends).astype(np.int64) for classes, ends in zip(known_classes, links, strict=True)
    ]
    components = find_components(places[0], places[1], len(known_classes[0]), len(known_classes[1]))
    tables = [scratch.table(f"parts{side.version}_{new.version}") for side in (old, new)]
    halves = (components[: len(known_classes[0])], components[len(known_classes[0]) :])
    for table, classes, part in zip(tables, known_classes, halves, strict=True):
        engine.load_arrays(table, {"class": classes, "part": part})
    return tables[0], tables[1], len(np.unique(components))


def _find_failing(
    scratch: Scratch,
    sets: TableRef,
    failing: TableRef,
    privacy: PrivacySpec,
    whole: Side,
    shared: Sequence[str],
    fewest: int,
) -> None:
    """Make the table ``failing`` of the rows of the version ``whole`` in groups that do not meet all requirements."""
    names = [f"v{i + 1}" for i in range(len(shared))]
    groups = ["place", "beside"]
    persons_counted = whole.persons
    requirements = [
        requirement
        for requirement in of_rows(make_requirements(privacy, tuple(shared), tuple(persons_counted)))
        if not requirement.across
    ]
    prefix = failing.name.rpartition("_")[2]
    below = [scratch.table(f"{prefix}_below{i}") for i in range(len(requirements))]
    rows_of = Grouped(sets, groups, names, None, whole.history, _values(whole, shared), list(persons_counted.values()))
    for requirement, table in zip(requirements, below, strict=True):
        requirement.below(scratch, table, rows_of)
    if fewest > 1:
        for i, column in enumerate(persons_counted.values()):
            few = scratch.table(f"{prefix}_few{i}")
            scratch.execute("history/few", few=few, sets=sets, groups=groups, person=column, fewest=fewest)
            below.append(few)
    scratch.execute("history/failing", failing=failing, sets=sets, below=below, groups=groups)
    for table in below:
        scratch.drop(table)


def _measure_groups(
    scratch: Scratch, sets: TableRef, whole: Side, shared: Sequence[str], rows: int, failing: int
) -> HistorySets:
    """Measure the groups of ``rows`` rows of the version ``whole``, of which so many fail."""
    if not rows:
        return HistorySets(0, 0, None, None, 0)
    names = [f"v{i + 1}" for i in range(len(shared))]
    groups = ["place", "beside"]
    unit = Fraction(1)
    grouped = Grouped(sets, groups, names)
    sizes = KAnonymity(unit).measure(scratch.engine, grouped).sizes
    assert sizes is not None
    diverse = [
        FrequencyDiversity(unit, name, i).measure(scratch.engine, grouped).reached for i, name in enumerate(names)
    ]
    fewest_persons = persons.measure(scratch.engine, sets, groups, whole.persons).fewest
    return HistorySets(
        rows,
        sizes.classes,
        sizes.smallest,
        float(min(diverse)) if diverse else None,
        failing,
        min(fewest_persons.values(), default=None),
    )
