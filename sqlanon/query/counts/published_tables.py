"""Published tables of counts, ours and those of others, as any reader has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sqlanon.column_spec import Hierarchy
from sqlanon.engines.base import Relation
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.query.counts.release import ReleasedCounts, describe_counts
from sqlanon.query.release import is_of_cells, read_metadata
from sqlanon.release.audit.audit_pair import facts_beside
from sqlanon.sqltext import statement
from sqlanon.statistics.joined_tables import JointTable, Node
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, Label, SeenColumn

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine

MOST_CELLS = 1_000_000
"""Cells of a table that are read, at most."""
Number = int | tuple[int, int]
"""The number of a cell, or its least and its greatest."""
NUMBERS = ("integer", "decimal", "float")
"""Kinds of columns that may be the number of a cell."""


@dataclass(frozen=True, slots=True)
class CountsSpelling:
    """Spelling of tables from other publishers.

    Attributes:
        by: the columns with values that make a cell; empty: all but the number.
        value: the column of the number; None: the only column of numbers. Of a release of counts a measure; None: the
            first.
        total: the text of a total, "" for NULL.
        hidden: texts in place of a hidden number, besides NULL.
        hierarchies: the nodes of a column; values may be of any level.
        whole: cells that a table does not list are empty.
        decimals: numbers have so many digits after the point; with any they are sums, and a hidden one may be 0.
    """

    by: tuple[str, ...] = ()
    value: str | None = None
    total: str = "Total"
    hidden: tuple[str, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    whole: bool = True
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class ReadTables:
    """Tables that were read.

    Attributes:
        columns: all of their columns.
        tables: the tables; a release of several tables is several.
        least: the least number of a hidden cell.
        apart: numbers are of persons who have several rows, and do not add up.
        beside: other numbers of these cells are published, which may say more.
    """

    columns: tuple[SeenColumn, ...]
    tables: tuple[JointTable, ...]
    least: int
    apart: bool = False
    beside: bool = False


def read_tables(engine: Engine, names: Mapping[str, str], spelling: CountsSpelling) -> ReadTables:
    """Read published tables.

    Args:
        engine: their database.
        names: name of each table or view, by the name in messages; releases of counts need no spelling.
        spelling: spelling of the other tables.

    Raises:
        PolicyError: a table is not as the spelling says.
        UnsupportedError: two releases have numbers of several versions each.

    Cost: each table is read once, in this process.
    """
    columns: dict[str, SeenColumn] = {}
    raw: list[_RawTable] = []
    for name, table in names.items():
        relation = engine.relation(table)
        if facts_beside(engine, relation.ref) and is_of_cells(rows := read_metadata(engine, relation.ref)):
            raw += _read_release(engine, name, describe_counts(relation, rows), spelling)
        else:
            raw.append(_read_other(engine, name, relation, spelling))
    for raw_table in raw:
        for column in raw_table.columns:
            existing = columns.setdefault(column.name.lower(), column)
            if (existing.levels, existing.above) != (column.levels, column.above) and existing.above and column.above:
                raise PolicyError(f"column {column.name} has unlike hierarchies in two of the tables")
            if column.above and not existing.above:
                columns[column.name.lower()] = column
    followed = {raw_table.name for raw_table in raw if raw_table.newest}
    if len(followed) > 1:
        raise UnsupportedError(f"{', '.join(sorted(followed))} have numbers of several versions each: name one of them")
    places = {name: place for place, name in enumerate(columns)}
    tables = []
    for raw_table in raw:
        table_places = tuple(places[column.name.lower()] for column in raw_table.columns)
        full = [columns[column.name.lower()] for column in raw_table.columns]
        # A table without a hierarchy may have labels of all levels of another table's.
        finders = [
            _Nodes(column, ()) if column.above and not table_column.above else None
            for column, table_column in zip(full, raw_table.columns, strict=True)
        ]
        cells: dict[tuple[Node, ...], int] = {}
        ends: dict[tuple[Node, ...], tuple[int, int]] = {}
        older: dict[tuple[Node, ...], int] = {}
        for index, (nodes, value) in enumerate(raw_table.cells):
            key = tuple(
                (column.levels, None) if node is None else node if finder is None else finder.find(node[1]) or node
                for node, column, finder in zip(nodes, full, finders, strict=True)
            )
            if key in cells:
                raise PolicyError(f"{raw_table.name} lists a cell twice")
            cells[key] = HIDDEN if isinstance(value, tuple) else value
            if isinstance(value, tuple):
                ends[key] = value
            if raw_table.bounds:
                ends[key] = raw_table.bounds[index]
            if raw_table.newest and raw_table.as_of[index] < raw_table.newest:
                older[key] = raw_table.as_of[index]
        versions = older, raw_table.newest
        tables.append(
            JointTable(raw_table.name, table_places, cells, raw_table.whole, ends, *versions, raw_table.status)
        )
    apart = {raw_table.name for raw_table in raw if raw_table.apart}
    if apart and {raw_table.name for raw_table in raw} != apart:
        raise UnsupportedError(
            f"{', '.join(sorted(apart))} counts persons who have several rows, and they do not add up: name it alone"
        )
    least = 1 if all(raw_table.counted for raw_table in raw) else 0
    beside = any(raw_table.beside for raw_table in raw)
    return ReadTables(tuple(columns.values()), tuple(tables), least, bool(apart), beside)


@dataclass(frozen=True, slots=True)
class _RawTable:
    """A table with columns as stored; a node is None where it is the total.

    With several versions that of each cell, and the bounds of its number in the last one, where they are published. Its
    numbers are of persons who have several rows, and do not add up, where ``apart``; ``beside``: there are others.
    """

    name: str
    columns: tuple[SeenColumn, ...]
    cells: list[tuple[tuple[Node | None, ...], Number]]
    whole: bool
    counted: bool
    as_of: Sequence[int] = ()
    newest: int = 0
    bounds: Sequence[tuple[int, int]] = ()
    status: str = "hidden"
    apart: bool = False
    beside: bool = False


def _read_release(engine: Engine, name: str, released: ReleasedCounts, spelling: CountsSpelling) -> list[_RawTable]:
    columns, value_name = released.columns, (spelling.value or "").lower()
    summed = next((measure for measure in released.sums if measure.name.lower() == value_name), None)
    if summed is not None and summed.of.low < 0:
        raise PolicyError(f"{name}: {summed.name} may be negative, and an audit reads numbers of 0 or more; ask query")
    if summed is not None and summed.scale > spelling.decimals:
        raise PolicyError(f"{name}: {summed.name} has digits after the point: say --decimals {summed.scale}")
    chosen = next((name for name, _ in released.measures if name.lower() == value_name), None)
    measure = chosen or released.summed or released.measures[0][0] if summed is None else summed.name
    apart = released.patterns and dict(released.measures).get(measure) == "persons"
    unit = 10**spelling.decimals
    rows = engine.fetch(
        statement(
            "query/cells",
            engine.dialect,
            view=released.view.ref,
            columns=[{"name": column.name, "level": f"level_{column.name}"} for column in columns],
            totals=[],
            measure=measure,
            beside=list(released.beside),
        ),
        max_rows=MOST_CELLS,
    )
    many = len(columns)
    raw_tables = []
    for table in released.tables:
        inside = [
            index
            for index, column in enumerate(columns)
            if column.name.lower() in {column_name.lower() for column_name in table}
        ]
        outside = [index for index in range(many) if index not in inside]
        cells: list[tuple[tuple[Node | None, ...], Number]] = []
        as_of: list[int] = []
        bounds: list[tuple[int, int]] = []
        for row in rows:
            levels = [read_integer(row[index]) for index in range(many)]
            if any(levels[index] != columns[index].levels for index in outside):
                continue
            nodes = tuple(
                None if levels[index] == columns[index].levels else (levels[index], _text(row[many + index]))
                for index in inside
            )
            if released.changed:
                cells.append((nodes, (read_integer(row[-3]), read_integer(row[-2]))))
            elif row[-1] is None and summed is None and released.beside and not released.several:
                high = UNBOUNDED if row[-2] is None else read_integer(row[-2])
                cells.append((nodes, (read_integer(row[-3]), high)))
            else:
                cells.append((nodes, HIDDEN if row[-1] is None else int(Decimal(str(row[-1])) * unit)))
            if released.several:
                as_of.append(read_integer(row[-2]))
                if released.bounded and summed is None:
                    bounds.append((read_integer(row[-4]), UNBOUNDED if row[-3] is None else read_integer(row[-3])))
        newest = released.versions[-1] if released.several else 0
        inside_columns = tuple(columns[index] for index in inside)
        numbers = (cells, True, summed is None, as_of, newest, bounds)
        raw_tables.append(
            _RawTable(name, inside_columns, *numbers, released.status, apart=apart, beside=released.patterns)
        )
    return raw_tables


def _read_other(engine: Engine, name: str, relation: Relation, spelling: CountsSpelling) -> _RawTable:
    value = _value_of(name, relation, spelling)
    by_names = {by_name.lower() for by_name in spelling.by}
    by = [
        column.name
        for column in relation.columns
        if column.name != value and (not by_names or column.name.lower() in by_names)
    ]
    if not by:
        raise PolicyError(f"{name} has none of the columns of cells: {', '.join(spelling.by)}")
    rows = engine.fetch(
        statement("query/published_cells", engine.dialect, table=relation.ref, columns=by, value=value),
        max_rows=MOST_CELLS,
    )
    hierarchies = {name.lower(): hierarchy for name, hierarchy in spelling.hierarchies.items()}
    columns = [_column_of(name, hierarchies.get(name.lower())) for name in by]
    roots = {name: [path[-1] for path in hierarchy.levels] for name, hierarchy in hierarchies.items()}
    nodes = [_Nodes(column, (spelling.total or None, *roots.get(column.name.lower(), ()))) for column in columns]
    cells = [(tuple(node.find(cell) for node, cell in zip(nodes, row, strict=False)), row[-1]) for row in rows]
    return _RawTable(name, tuple(columns), _read_values(name, value, cells, spelling), spelling.whole, False)


def _read_values(
    name: str, value: str, cells: Sequence[tuple[tuple[Node | None, ...], object]], spelling: CountsSpelling
) -> list[tuple[tuple[Node | None, ...], Number]]:
    cells_read: list[tuple[tuple[Node | None, ...], Number]] = []
    wrong = 0
    for nodes, cell in cells:
        text = "" if cell is None else str(cell).strip()
        number = HIDDEN
        if text and text not in spelling.hidden:
            try:
                exact = Decimal(text).scaleb(spelling.decimals)
                wrong += exact < 0 or exact != int(exact)
                number = max(int(exact), 0)
            except (InvalidOperation, ValueError, OverflowError):
                wrong += 1
        cells_read.append((nodes, number))
    if wrong:
        raise PolicyError(
            f"{name}: {wrong} of column {value} are no whole numbers of 0 or more; name the texts of hidden cells "
            "with --hidden, and say with --decimals how many digits sums have after the point"
        )
    return cells_read


def _value_of(name: str, relation: Relation, spelling: CountsSpelling) -> str:
    if spelling.value is not None:
        column = next(
            (column.name for column in relation.columns if column.name.lower() == spelling.value.lower()), None
        )
        if column is None:
            raise PolicyError(f"{name} has no column {spelling.value}")
        return column
    excluded = {name.lower() for name in (*spelling.by, *spelling.hierarchies)}
    able = [
        column.name for column in relation.columns if column.kind in NUMBERS and column.name.lower() not in excluded
    ]
    if len(able) != 1:
        raise PolicyError(f"{name}: which column has the numbers of the cells? Name it with --value")
    return able[0]


def _column_of(name: str, hierarchy: Hierarchy | None) -> SeenColumn:
    if hierarchy is None:
        return SeenColumn(name, 1, {})
    return SeenColumn(name, hierarchy.height, {path[0]: tuple(path[: hierarchy.height]) for path in hierarchy.levels})


class _Nodes:
    """The nodes of a column by their labels.

    Args:
        column: the column.
        totals: labels of the total.
    """

    def __init__(self, column: SeenColumn, totals: Sequence[Label]) -> None:
        self._column, self._totals = column, frozenset(totals)
        self._known: dict[Label, Node] = {}
        leaves: dict[Node, set[Label]] = {}
        for leaf, path in column.above.items():
            for level, label in enumerate(path):
                leaves.setdefault((level, label), set()).add(leaf)
        for node, below in sorted(leaves.items(), key=lambda entry: entry[0][0]):
            lower = self._known.setdefault(node[1], node)
            if leaves[lower] != below:
                raise PolicyError(
                    f"the hierarchy of column {column.name} has one name for nodes of unlike leaves: give each its own"
                )

    def find(self, cell: object) -> Node | None:
        """The node of a label; None: the total."""
        label = _text(cell)
        if label in self._totals:
            return None
        if not self._known or label is None:
            return (0, label)
        if label not in self._known:
            raise PolicyError(f"column {self._column.name} has values that are not in its hierarchy")
        return self._known[label]


def _text(cell: object) -> Label:
    return None if cell is None else str(cell)
