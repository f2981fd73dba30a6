"""GROUP BY of a column with ranges by conditions on it, such as ``CASE WHEN x > 1.5 THEN 'high' ELSE 'low' END``.

The constants cut the line of values into runs, in each of which every condition is decided. A box is unrolled into the
runs that it reaches, so that no value has to be listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.interval import Interval
from sqlanon.query.logic.number_line import Comparison, Piece, literal
from sqlanon.query.sql.sqltree import FALSE, Tree, column, greatest, least, when

MOST_RUNS = 64
"""Ways in which the conditions of a term may turn out together."""


@dataclass(frozen=True)
class Runs:
    """The runs of values by which a term of GROUP BY differs.

    Attributes:
        key: the term, over the number of an outcome of its conditions; of NULL over NULL.
        cuts: the comparisons in the term's conditions.
        ways: the number of each outcome, by the numbers of the comparisons that hold.
    """

    key: Tree
    cuts: tuple[Comparison, ...]
    ways: Mapping[frozenset[int], int]

    def unroll(
        self,
        box: Box,
        tests: Sequence[Comparison],
        number_of: Callable[[frozenset[int]], int],
        boxes: exp.Select,
    ) -> exp.Query:
        """Every distinct box in the runs that it reaches.

        The columns are those of `sqlanon.query.boxes.buckets.Bucket.unroll`.
        """
        every = list({cut.id: cut for cut in (*tests, *self.cuts)}.values())
        line = Interval(box, every, "k")
        test_ids, cut_ids = frozenset(cut.id for cut in tests), frozenset(cut.id for cut in self.cuts)
        parts = [
            _in_run(box, line, piece, (self.ways[holds & cut_ids], number_of(holds & test_ids)), boxes)
            for holds, piece in box.pieces(every)
        ]
        return parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False)


def number_ways(box: Box, cuts: Iterable[Comparison]) -> dict[frozenset[int], int]:
    """Which comparisons hold together for some value, numbered."""
    pieces = box.pieces(list(cuts))
    return {holds: index for index, holds in enumerate(dict.fromkeys(holds for holds, _ in pieces))}


def _in_run(box: Box, line: Interval, piece: Piece, numbers: tuple[int, int], boxes: exp.Select) -> exp.Select:
    """The boxes that reach a run: the run's part of each, and the ends of the part."""
    value, way = (exp.Literal.number(number) for number in numbers)
    low, high = ([] if end is None else [literal(end, box.field)] for end in (piece.low, piece.high))
    shown = {
        "v": value,
        "w": exp.cast(line.extent(piece), "DOUBLE"),
        "u": FALSE.copy(),
        "way": way,
        "l": greatest([column(f"{box.id}_lo", "k"), *low]),
        "h": least([column(f"{box.id}_hi", "k"), *high]),
    }
    query = exp.Select().select(
        *(column(f"{box.id}_{part}", "k") for part in box.parts),
        *(exp.alias_(tree, name, quoted=True) for name, tree in shown.items()),
    )
    return query.from_(boxes.copy().subquery("k")).where(line.touches(piece))


def key_by_way(value: Tree, terms: Sequence[Tree], of_null: Tree) -> Tree:
    """The term by the number of a way.

    Args:
        value: the number, or NULL.
        terms: the term in each way.
        of_null: the term of NULL.
    """
    expression: Tree = of_null.copy()
    turns = [
        (exp.EQ(this=value.copy(), expression=exp.Literal.number(index)), term) for index, term in enumerate(terms)
    ]
    for turn, term in reversed(turns):
        expression = when(turn, term.copy(), expression)
    return expression
