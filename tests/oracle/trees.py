"""A taxonomy tree from rows ``(leaf, parent, ..., root)`` in a file's order."""

from __future__ import annotations

from collections.abc import Sequence


class Tree:
    """Leaves in in-order traversal, children in the order in which the file first names them."""

    def __init__(self, levels: Sequence[Sequence[str]]) -> None:
        self.paths = {row[0]: tuple(row) for row in levels}
        self.leaves: list[str] = []
        self._visit([tuple(reversed(row)) for row in levels], 0)

    def _visit(self, rows: list[tuple[str, ...]], depth: int) -> None:
        """Walk the rows of one node; rows are root first."""
        if depth == len(rows[0]):
            self.leaves.append(rows[0][-1])
            return
        children: dict[str, list[tuple[str, ...]]] = {}
        for row in rows:
            children.setdefault(row[depth], []).append(row)
        for below in children.values():
            self._visit(below, depth + 1)

    def common(self, leaves: Sequence[str]) -> tuple[int, str]:
        """Level (0 is the leaves) and label of the lowest common ancestor."""
        paths = [self.paths[leaf] for leaf in leaves]
        for level in range(len(paths[0])):
            labels = {path[level] for path in paths}
            if len(labels) == 1:
                return level, labels.pop()
        raise ValueError("a tree has one root")

    def under(self, level: int, label: str) -> int:
        """How many leaves of the file a node covers."""
        return sum(path[level] == label for path in self.paths.values())
