"""History: what two versions of one release reveal together, by the classes that share a row.

A reader of both versions who finds a component of linked classes knows what its old and its new classes hold. So he
can distinguish three kinds of groups: the rows that arrived in it, those that left it, and those common to an old and a new
class. Each should be as large and as diverse as a class, and of events hold as many persons. A changed row is both one that
left and one that arrived.

The private schema keeps a keyed hash of the key, the class, and keyed hashes of the values and of the persons' numbers for
every version ever published. Nothing here prevents anything: it measures, and `refresh.max_failing` stops a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import GuardError, PolicyError, PrivacyViolation
from sqlanon.formats import RowGroups
from sqlanon.privacy import Grouped, requirements, stored
from sqlanon.privacy.diversity import FrequencyDiversity
from sqlanon.privacy.kanonymity import KAnonymity
from sqlanon.release.check import persons
from sqlanon.release.store.catalog import Catalog, Entry, private_table
from sqlanon.release.store.state import ReleaseState
from sqlanon.results import HistoryReport, HistorySets
from sqlanon.spec import PrivacySpec, ReleaseSpec
from sqlanon.sqltext import table_name
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import Counted, Roles, hashes_of

PERSON = "person"
"""The stage's column of the key's hash."""

SEEN = ("published", "replaced", "withdrawn", "dropped")
"""Versions that readers had at some time."""


def check_key(scratch: Scratch, spec: ReleaseSpec, stage: TableRef) -> None:
    """The key is unique and never NULL.

    Raises:
        GuardError: it is not.
    """
    nulls, repeats = (int(str(cell)) for cell in scratch.fetch("history/key", stage=stage)[0])
    problems = [f"{nulls} rows have none (NULL)"] * bool(nulls) + [f"{repeats} rows repeat one"] * bool(
        repeats
    )
    if problems:
        raise GuardError(
            f"{spec.name}: key {', '.join(spec.key)} does not identify rows: {', and '.join(problems)}; name columns that are "
            "together unique and not NULL, or leave key out"
        )


def key_columns(spec: ReleaseSpec, roles: Roles) -> list[str]:
    """The key's columns as the source spells them, in an order of their own: they are hashed in it.

    Raises:
        PolicyError: the source lacks one.
    """
    known = {column.name.lower(): column.name for column in roles.relation.columns}
    known |= {column.name: column.name for column in roles.relation.columns}
    missing = [name for name in spec.key if name not in known and name.lower() not in known]
    if missing:
        raise PolicyError(f"{spec.name}: key: {roles.relation.ref} has no column {', '.join(missing)}")
    return sorted(known.get(name) or known[name.lower()] for name in spec.key)


def rows_of(
    scratch: Scratch, roles: Roles, classed: TableRef, groups: RowGroups, secret: str, counted: Sequence[Counted] = (),
    omitted: TableRef | None = None,
) -> TableRef:  # fmt: skip
    """The history of the version that is being made, as a scratch table; ``omitted`` are the rows that it leaves out."""
    history = scratch.table("history")
    scratch.execute(
        "history/rows", {"secret": secret}, history=history, classed=classed, groups=groups, omitted=omitted,
        marked=[reading.alias for reading in roles.quasi + roles.sensitive],
        sensitive=[reading.alias for reading in roles.sensitive], persons=[one.alias for one in counted],
    )  # fmt: skip
    return history


def value_columns(roles: Roles, counted: Sequence[Counted]) -> list[str]:
    """Columns of a history of its own: of the sensitive values, and of the persons."""
    return [f"s{i}" for i in range(1, len(roles.sensitive) + 1)] + [one.alias for one in counted]


def table_of(engine: Engine, physical: str) -> TableRef:
    """Where the history of a new version goes."""
    return private_table(engine, f"{physical}_history")


def kept(entries: Sequence[Entry], exists: Callable[[TableRef], bool]) -> list[Entry]:
    """Of the versions of a release those that readers had and whose history is there, oldest first."""
    return [
        entry
        for entry in entries
        if entry.status in SEEN and entry.policy.get("key") and exists(entry.history)
    ]


def before(state: ReleaseState, published: Entry | None) -> list[Entry]:
    """The versions that a new one is compared with: the published one, and after a rollback the newest as well."""
    known = kept(state.versions, state.exists)
    wanted = [known[-1].version] if known else []
    wanted += [published.version] if published else []
    return [entry for entry in known if entry.version in wanted]


def compare_new(
    scratch: Scratch, spec: ReleaseSpec, entries: Sequence[Entry], history: TableRef, version: int,
    types: Sequence[tuple[str, str]],
) -> tuple[HistoryReport, ...]:  # fmt: skip
    """What a version that is being made reveals together with those before it; ``types`` are the source's columns'."""
    persons_of = hashes_of(column.name for column in spec.counted()) if spec.rows_are == "events" else {}
    new = Side(
        version, history, [(c.name, c.role) for c in spec.columns], spec.key, types, spec.rows_are, persons_of
    )
    asked = spec.privacy.k if spec.persons is None else 1
    return tuple(
        compare(scratch, side_of(scratch.engine, entry), new, spec.privacy, asked) for entry in entries
    )


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
    """

    def __init__(
        self, version: int, history: TableRef, columns: Sequence[tuple[str, str]], key: Sequence[str],
        types: Sequence[tuple[str, str]], rows_are: str, persons: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.version = version
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


def side_of(engine: Engine, entry: Entry) -> Side:
    """A version of the catalog; an older sqlanon kept no persons in its history."""
    persons_of = hashes_of(persons.counted_in(entry.policy))
    if persons_of:
        there = {column.name for column in engine.relation(table_name(entry.history)).columns}
        persons_of = persons_of if there.issuperset(persons_of.values()) else {}
    columns = [(column["name"], column["role"]) for column in entry.policy["columns"]]
    key = entry.policy.get("key") or ()
    rows_are = entry.policy.get("rows_are", "persons")
    return Side(entry.version, entry.history, columns, key, entry.source_columns or (), rows_are, persons_of)


def compare(scratch: Scratch, old: Side, new: Side, privacy: PrivacySpec, fewest: int) -> HistoryReport:
    """Link the classes of two versions and measure every group that a reader of both can distinguish.

    Where the policies read other columns, or columns of other types, rows are matched by key alone, and changed
    values are not noticed. Where the keys differ, or match nowhere, the result is ``unknown``, and every new row fails.
    ``fewest`` persons must be in every group, by each identifier that its version counts; 1 asks for none.

    Cost: three joins of the two histories by key, and one step a link.
    """
    if old.key != new.key:
        return _unknown(scratch, old, new, "the key's columns or their types changed")
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
        not_measured=_uncounted(old, new) if fewest > 1 else "",
    )


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
    asked = requirements(privacy, tuple(shared), tuple(counted))
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
    sizes = KAnonymity(one).measure(scratch.engine, sets, groups, names).sizes
    assert sizes is not None
    diverse = [
        FrequencyDiversity(one, name, i).measure(scratch.engine, sets, groups, names).reached
        for i, name in enumerate(names)
    ]
    held = persons.measure(scratch.engine, sets, groups, whole.persons).fewest
    return HistorySets(
        rows, sizes.classes, sizes.smallest, float(min(diverse)) if diverse else None, failing,
        min(held.values(), default=None),
    )  # fmt: skip


def hold(spec: ReleaseSpec, found: Sequence[HistoryReport]) -> None:
    """Stop a version that reveals too much together with one before.

    Raises:
        PrivacyViolation: more rows fail the policy than ``history.max_failing`` allows.
    """
    most = spec.refresh.max_failing
    for one in found:
        if most is not None and one.failing > most:
            raise PrivacyViolation(
                f"{spec.name}: together with version {one.old} this version would leave {one.failing} rows in groups below the "
                f"policy, and history.max_failing allows {most} ({figures(one)}); nothing was published"
            )


def figures(one: HistoryReport) -> str:
    """The figures of one comparison in a line."""
    if one.unknown:
        return f"they cannot be compared: {one.unknown}"
    parts = []
    for kind, sets in (("arrived", one.arrived), ("left", one.left), ("common", one.common)):
        if sets.smallest is not None:
            diverse = f", l {sets.l:.3g}" if sets.l is not None else ""
            held = f", fewest persons {sets.persons}" if sets.persons is not None else ""
            parts.append(
                f"{kind}: {sets.rows} rows, smallest group {sets.smallest}{held}{diverse}, failing {sets.failing}"
            )
    return "; ".join(parts)


def audit_history(engine: Engine, release: str) -> tuple[HistoryReport, ...]:
    """Every version against the one before it, and against the one it replaced where that is another.

    Raises:
        PolicyError: no such release, or no two versions of it have a history.
    """
    Catalog(engine).guard()
    versions = Catalog(engine).entries(release)
    entries = kept(versions, engine.exists)
    if len(entries) < 2:
        if not versions:
            raise PolicyError(f"{release} is not a release of this database")
        raise PolicyError(
            f"{release}: {len(entries)} of its versions have a history, and two are needed: name key: [columns] in the policy "
            "(unique, never NULL, never published) and run again; without it the rows of two versions cannot be matched"
        )
    by_version = {entry.version: entry for entry in entries}
    reports = []
    with Scratch(engine) as scratch:
        for earlier, entry in pairwise(entries):
            pairs = {earlier.version, entry.report.get("replaces") or earlier.version}
            for version in sorted(pairs & by_version.keys()):
                old, new = side_of(engine, by_version[version]), side_of(engine, entry)
                asked = stored(entry.policy["privacy"])
                fewest = asked.k if entry.policy.get("persons") is None else 1
                reports.append(compare(scratch, old, new, asked, fewest))
    return tuple(reports)
