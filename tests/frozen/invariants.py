"""What holds in every lineage, checked by the records of all its versions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from tests.frozen.histories import K, L
from tests.frozen.model import Cell, Key, Row, Version


class Log:
    """All that a lineage published, and what must hold of each further version."""

    def __init__(self) -> None:
        self.cells: dict[Key, Cell] = {}
        self.groups: dict[tuple[int, int], set[Key]] = defaultdict(set)
        self.shown: Mapping[Key, Cell] = {}
        self.refused: set[Key] = set()
        self.erased: set[Key] = set()
        self.retired: set[tuple[int, int]] = set()

    def erase(self, keys: set[Key]) -> set[Key]:
        """Which keys leave because these are erased."""
        groups = {(self.cells[key].number, self.cells[key].group) for key in keys if key in self.cells}
        leave = {key for key, cell in self.shown.items() if (cell.number, cell.group) in groups}
        self.erased |= keys
        self.retired |= {(self.cells[key].number, self.cells[key].group) for key in leave}
        return leave

    def check(self, version: Version, source: Mapping[Key, Row]) -> None:
        """Compare a version with all before it."""
        for key, cell in version.cells.items():
            if key not in self.cells:
                assert key in source
                assert key in version.cohort
                assert source[key].value == cell.value
                self.groups[cell.number, cell.group].add(key)
            assert self.cells.setdefault(key, cell) == cell  # one class over the lineage, with cells that stay
            assert key not in self.erased | self.refused
        new = set(version.cells) - set(self.shown)
        assert new in (set(), version.cohort)  # whole, or not at all
        assert version.refused == (bool(version.cohort) and not new)
        if version.refused:
            self.refused |= version.cohort
        for group, keys in self.groups.items():
            now = keys & set(version.cells)
            assert now in (set(), keys)  # exit groups enter and leave whole
            left = keys <= set(self.shown) and not now
            assert left <= (group in self.retired or not keys & set(source))
            assert not now or now & set(source)
            counts = Counter(self.cells[key].value for key in keys)
            assert len(keys) >= K
            assert max(counts.values()) * L <= len(keys)
        self.shown = version.cells
        self.boxes(source, version)

    def boxes(self, source: Mapping[Key, Row], version: Version) -> None:
        """New classes have the box of their rows, and the numbers of keys add up."""
        points: dict[int, list[tuple[float, ...]]] = defaultdict(list)
        for key in set(version.cells) & version.cohort:
            points[version.cells[key].number].append(source[key].quasi)
        for number, rows in points.items():
            box = tuple((min(column), max(column)) for column in zip(*rows, strict=True))
            assert {cell.box for cell in version.cells.values() if cell.number == number} == {box}
        counts, present = version.counts, set(source)
        never = present & self.erased
        assert counts.current + counts.stale + counts.retained == len(version.cells)
        assert counts.retained == len(set(version.cells) - present)
        assert counts.erased == len(never)
        assert counts.refused == len(present & self.refused - never)
        assert counts.gone == len(present & set(self.cells) - set(version.cells) - never)
        assert len(source) == (
            len(version.cells) - counts.retained + counts.waiting + counts.refused + counts.gone + counts.erased
        )
        stale = {
            key
            for key in present & set(version.cells)
            if source[key].value != version.cells[key].value
            or any(not a <= x <= b for x, (a, b) in zip(source[key].quasi, version.cells[key].box, strict=True))
        }
        assert counts.stale == len(stale)
