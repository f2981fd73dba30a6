"""t-closeness (Li, Li and Venkatasubramanian 2007).

The earth mover's distance of a class's values to the table's is at most t.

Distances of values (section 4): equal, 1 between any two; ordered, |i - j| / (m - 1) between the i-th and the j-th of m
values; hierarchical, the level of the lowest common ancestor by the height of the hierarchy. NULL is a value: the first
of an order, and under the root of a hierarchy by itself. All three are distances in a tree (see
`sqlanon.privacy.closeness.kernels`). It is monotone: the distance is convex, so that a union is no farther than its
farthest part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.column_spec import ColumnSpec, Hierarchy
from sqlanon.engines.base import TableRef
from sqlanon.errors import UnsupportedError
from sqlanon.privacy.base import Coded, Grouped, Measured, Values
from sqlanon.privacy.closeness.measure import find_farthest
from sqlanon.privacy.closeness.tree import Tree, hierarchy_tree
from sqlanon.privacy.counts import Counts, GroupShares, OfCounts
from sqlanon.privacy.fractions import at_most
from sqlanon.privacy.reference import count_reference, fresh_table
from sqlanon.privacy.shares import list_levels
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles
    from sqlanon.kernels.tally import Tally

_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class TCloseness(OfCounts):
    """The values of ``column`` in a class are within ``asked`` of those of the table."""

    name: ClassVar[str] = "t"
    compares: ClassVar[bool] = True
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...]
    distance: str
    spec: ColumnSpec | None = None
    of_source: bool = False

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[TCloseness]:
        """One per sensitive column that is asked about."""
        return [cls(limit.max, *place, limit.distance) for limit, place in list_levels(privacy, cls.name, sensitive)]

    @property
    def reads_values(self) -> bool:
        return self.distance != "equal"

    def of_column(self, spec: ColumnSpec) -> TCloseness:
        return replace(self, spec=spec)

    def refusal(self, values: Values) -> str | None:
        what = f"t of {self.column}: distance {self.distance}"
        hierarchy, order = (self.spec.hierarchy, self.spec.ordered) if self.spec else (None, None)
        if self.distance == "hierarchical":
            if not isinstance(hierarchy, Hierarchy):
                return f"{what} needs a hierarchy of the column"
            leaves = {path[0] for path in hierarchy.levels}
            missing = sum(1 for text in values.texts if text is not None and text not in leaves)
            return f"{what}: {missing} values are not in the hierarchy" if missing else None
        if isinstance(order, tuple):
            missing = sum(1 for text in values.texts if text is not None and text not in order)
            return f"{what}: {missing} values are not in the list of ordered" if missing else None
        if order is None and not values.ordered:
            return f"{what} needs an order of its values: say ordered for the column, or use distance equal"
        return None

    def tree(self, texts: Sequence[str | None], ranks: Sequence[int]) -> Tree:
        """The tree of values with these texts and ranks."""
        m = len(texts)
        if self.distance == "hierarchical" and self.spec and isinstance(self.spec.hierarchy, Hierarchy):
            return hierarchy_tree(texts, self.spec.hierarchy.levels)
        if self.distance == "ordered":
            place = self._places(texts, ranks)
            return Tree(place, [*range(1, m), -1], max(m - 1, 1))
        return Tree(range(m), [m] * m + [-1], 2)

    def _places(self, texts: Sequence[str | None], ranks: Sequence[int]) -> list[int]:
        """Where each value is in the order: by the column's type, by bytes, or as listed; NULL first."""
        order = self.spec.ordered if self.spec else None
        key: Mapping[str, object] | None = None
        if order == "alphabetical":
            key = {text: text.encode() for text in texts if text is not None}
        elif isinstance(order, tuple):
            key = {text: i for i, text in enumerate(order)}
        if key is None:
            by = sorted(range(len(texts)), key=lambda i: ranks[i])
        else:
            # NULL, what is listed, and what is not: that is refused before anything is released.
            keys = [(0,) if text is None else (1, key[text]) if text in key else (2, text) for text in texts]
            by = sorted(range(len(texts)), key=keys.__getitem__)
        places = [0] * len(texts)
        for place, i in enumerate(by):
            places[i] = place
        return places

    def _limit(self, rows: int, edges: int) -> tuple[int, int, int]:
        """T times the cost of a row: its whole part, and p and q that decide as the rest does for whole rows."""
        if rows * rows * max(edges, 2) >= _LARGEST:
            raise UnsupportedError(
                f"t of {self.column}: {rows} rows and {edges} steps between values do not fit 64 bits; use distance "
                "equal, or fewer values"
            )
        most = self.asked * edges * rows
        whole = most.numerator // most.denominator
        return (whole, *at_most(most - whole).as_integer_ratio())

    def tally(self, coded: Coded) -> Tally:
        import numpy as np

        from sqlanon.kernels.tally import Tally
        from sqlanon.privacy.closeness import kernels

        i = self.value
        codes, rows = coded.codes[i], int(np.sum(coded.whole[i]))
        tree = self._tree_of(coded.values[i] if self.reads_values else None, codes)
        node = np.array(tree.node, np.int32)
        nodes = len(tree.parent)
        rows_of = np.zeros(nodes, np.int64)
        np.add.at(rows_of, node, coded.whole[i])
        whole, p, q = self._limit(rows, tree.edges)
        kind = kernels.CHAIN if tree.chain else kernels.STAR if tree.star else 0
        bounds = np.array([nodes, rows, tree.edges * rows, whole, p, q, kind, *tree.parent, *rows_of], np.int64)
        return Tally(
            kernels.add_closeness,
            kernels.clear_closeness,
            node[coded.sensitive[i]],
            1,
            bounds,
            kernels.OWN + 2 * nodes,
            np.array([float(self.asked)]),
        )

    def _tree_of(self, values: Values | None, codes: int) -> Tree:
        """The tree of codes; without values they are all equally far, which is no less than any other distance."""
        if values is None:
            return Tree(range(codes), [codes] * codes + [-1], 2)
        return self.tree(values.texts, values.ranks)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`.

        In histories, which keep hashes, all values are equally far: no other distance is larger.
        """
        reference = count_reference(scratch, rows, self.value)
        values = rows.values[self.value] if rows.values and self.reads_values else None
        tree = self._tree_of(values, len(reference.values))
        whole, p, q = self._limit(reference.total, tree.edges)
        sets = fresh_table(scratch, "sets")
        columns = [("value", reference.type), ("node", "INTEGER"), ("own", "BIGINT")]
        if tree.chain:
            places = sorted(zip(tree.node, reference.values, reference.rows, strict=True))
            before, total = [], 0
            for place, value, n in places:
                total += n
                before.append((value, place, total))
            scratch.engine.load_rows(sets, columns, before)
        else:
            rows_of = [0] * len(tree.parent)
            above: list[tuple[int | str, int]] = []
            for value, node, n in zip(reference.values, tree.node, reference.rows, strict=True):
                ancestor = node
                while tree.parent[ancestor] >= 0:
                    above.append((value, ancestor))
                    rows_of[ancestor] += n
                    ancestor = tree.parent[ancestor]
            scratch.engine.load_rows(sets, columns, [(value, ancestor, rows_of[ancestor]) for value, ancestor in above])
        everything = sum(rows_of[node] for node, up in enumerate(tree.parent) if up >= 0) if not tree.chain else 0
        scratch.execute(
            "privacy/below_chain" if tree.chain else "privacy/below_tree",
            **rows.parameters(failing, self.value),
            sets=sets,
            total=reference.total,
            everything=everything,
            whole=whole,
            p=p,
            q=q,
        )
        scratch.drop(sets)

    def inside(self, shares: GroupShares) -> Doubles:
        import numpy as np

        if not self.reads_values or shares.values is None:
            moved = shares.sums(np.maximum(shares.share - shares.reference[shares.value], 0))
        else:
            moved = self.tree(shares.values.texts, shares.values.ranks).distances(shares)
        return float(self.asked) - moved

    def holds(self, shares: Mapping[int, Fraction], table: Mapping[int, Fraction], values: Values | None) -> bool:
        if not self.reads_values or values is None:
            return sum(max(share - table[value], Fraction(0)) for value, share in shares.items()) <= self.asked
        return self.tree(values.texts, values.ranks).distance(shares, table) <= self.asked

    def of_hashes(self) -> TCloseness:
        """See `OfCounts.of_hashes`: all values are equally far, which is no less than any other distance."""
        return replace(self, distance="equal")

    def judge(self, counts: Counts) -> Measured:
        """See `OfCounts.judge`: the largest distance."""
        if not self.reads_values:
            return Measured(*find_farthest(counts, self.asked))
        assert counts.values is not None
        shown, order, levels = counts.values.texts, None, None
        if self.distance == "ordered":
            order = self._places(shown, counts.values.ranks)
        elif self.spec and isinstance(self.spec.hierarchy, Hierarchy):
            levels = {path[0]: path for path in self.spec.hierarchy.levels}
        return Measured(*find_farthest(counts, self.asked, order, levels, shown))
