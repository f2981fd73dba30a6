"""Compile kernels before they are needed: releases of made-up tables in memory, by the policies that will be run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlanon import policy
from sqlanon.column_spec import ColumnSpec, Hierarchy
from sqlanon.database.open_url import connect
from sqlanon.declared.cost import TableSize
from sqlanon.engines.base import TableRef
from sqlanon.errors import SqlanonError
from sqlanon.kernels.watch import read_compilations
from sqlanon.methods.method import method_of
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.plans.rows import estimate
from sqlanon.results.warm import WarmReport
from sqlanon.spec import RefreshSpec, ReleaseSpec

FEW, MANY = 2_000, 40_000
"""Rows of the made-up tables.

Columns of many different values have wider codes, for which some kernels are compiled apart.
"""
MOST_SECONDS = 20.0
"""Of a method on the larger table, by estimate; slower methods are compiled for the smaller table alone."""
_VALUES = 60
_TREE = Hierarchy("made up", tuple((f"v{n:02}", f"g{n // 4}", "*") for n in range(_VALUES)))
_DEFAULTS: tuple[dict[str, Any], ...] = ({"k": 5}, {"k": 5, "refine": True}, {"k": 5, "l": 2, "refine": True})


class _Notes(SilentProgress):
    """Notes about compilation alone, not about the made-up releases."""

    def __init__(self, progress: Progress) -> None:
        self.note = progress.note  # type: ignore[method-assign]


def warm(specs: Sequence[ReleaseSpec] = (), progress: Progress | None = None) -> WarmReport:
    """Compile the kernels of releases by runs over made-up tables in memory.

    No database is opened, and no row is read.

    Args:
        specs: the releases; none: kernels of a first release by default, `plan` with hierarchies, ``refine`` and
            attacks.
        progress: gets notes.

    Cost: seconds where everything is compiled, for the default method half a minute to two minutes otherwise.
    """
    before = read_compilations()
    warmed, missed = [], []
    wide: list[ReleaseSpec] = []
    for spec in specs or tuple(_defaults()):
        plain = replace(spec, refine=None)
        try:
            run_made_up(spec, FEW, progress, planned=True, attacked=not specs)
            # Codes of two widths are read by methods, not by refinement, which would take long.
            if plain not in wide and _seconds(plain, MANY) < MOST_SECONDS:
                run_made_up(plain, MANY, progress)
                wide.append(plain)
            warmed.append(spec.name)
        except SqlanonError as error:
            missed.append(f"{spec.name}: {error}")
    after = read_compilations()
    functions, seconds = after.done - before.done, after.seconds - before.seconds
    return WarmReport(functions, seconds, tuple(dict.fromkeys(warmed)), tuple(missed))


def _seconds(spec: ReleaseSpec, rows: int) -> float:
    """Estimated time of the method."""
    return estimate(method_of(spec), TableSize(rows, len(spec.with_role("quasi")), spec.privacy.k)).seconds


def _defaults() -> Iterator[ReleaseSpec]:
    """Releases of numbers, text and a hierarchy."""
    for options in _DEFAULTS:
        spec = policy.release(source="made_up", name="first", quasi=["a", "b"], sensitive="s", **options)
        yield spec
        yield add_hierarchy(spec)


def add_hierarchy(spec: ReleaseSpec) -> ReleaseSpec:
    """The release with a further quasi-identifier, which has a hierarchy."""
    return replace(spec, columns=(*spec.columns, ColumnSpec("c", "quasi", hierarchy=_TREE)))


def run_made_up(
    spec: ReleaseSpec, rows: int, progress: Progress | None = None, *, planned: bool = False, attacked: bool = False
) -> None:
    """Run a release of a made-up table in memory.

    Args:
        spec: the release; only roles and kinds of columns count.
        rows: of the table.
        progress: gets notes.
        planned: plan it first.
        attacked: attack the release, and read it together with another.
    """
    source = TableRef("main", "made_up")
    release = replace(
        spec,
        source="main.made_up",
        publish="release.made_up",
        publish_file=None,
        publish_to=None,
        together=None,
        refresh=RefreshSpec(),
        readers=(),
        dimensions=(),
        columns=tuple(map(_simplify, spec.columns)),
    )
    with connect("duckdb:///:memory:", progress=_Notes(progress or SilentProgress())) as database:
        columns = [(column.name, _Values(column, place, release)) for place, column in enumerate(release.columns)]
        database.engine.load_rows(
            source,
            [(name, values.type) for name, values in columns],
            (tuple(values.of(n, rows) for _, values in columns) for n in range(rows)),
        )
        if planned:
            database.plan(release)
        database.run(release)
        if attacked:
            database.attack(release.name)
            database.run(replace(release, name="other", publish="release.other", refine=None))
            database.together(release.name, "other")


def _simplify(column: ColumnSpec) -> ColumnSpec:
    """A column with a tree at hand as hierarchy, if it has any, and with values that need no preparation."""
    tree = column.hierarchy if isinstance(column.hierarchy, Hierarchy) or not column.hierarchy else _TREE
    ordered = None if column.ordered == "declared" else column.ordered
    return replace(column, hierarchy=tree, ordered=ordered, recode=None, scope=None, secret=None)


class _Values:
    """The values of a made-up column."""

    def __init__(self, column: ColumnSpec, place: int, spec: ReleaseSpec) -> None:
        listed: tuple[str, ...] = ()
        if isinstance(column.hierarchy, Hierarchy):
            listed = tuple(leaf for leaf, *_ in column.hierarchy.levels)
        elif isinstance(column.ordered, tuple):
            listed = column.ordered
        elif column.ordered or (column.role == "quasi" and place % 2):
            listed = tuple(f"t{n}" for n in range(_VALUES))
        self._listed, self._role, self._place = listed, column.role, place
        self._repeated = (spec.rows_are == "events" or bool(spec.person)) and column.name not in spec.key
        self.type = "VARCHAR" if listed else "INTEGER"

    def of(self, n: int, rows: int) -> object:
        if self._listed:
            # Not the same order of values in each column: a search is compiled for classes that lose something.
            return self._listed[(n * 7 + n // len(self._listed) * self._place) % len(self._listed)]
        if self._role in ("identifier", "pseudonym"):
            return n // 2 if self._repeated else n
        return n * 7919 % rows if self._role == "quasi" else n // 7 % _VALUES
