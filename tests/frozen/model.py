"""A lineage in plain Python, from the rules alone: what versions publish, and what waits, is refused or left.

It shares no code with the product. A lineage is a sequence of versions in which a key is published in one
class, ever, and its published cells never change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Key = Hashable
Value = Hashable
Box = tuple[tuple[float, float], ...]
"""Least and greatest value per quasi column."""


class Row(NamedTuple):
    """A row of the source. ``value`` is published as it is: the sensitive value, or several in a tuple."""

    quasi: tuple[float, ...]
    value: Value


class Member(NamedTuple):
    """A row of a cohort."""

    key: Key
    quasi: tuple[float, ...]
    value: Value


class Cell(NamedTuple):
    """What is published of a key. Readers do not see the exit group, nor perhaps the number of the class."""

    box: Box
    value: Value
    number: int
    group: int


Partition = Callable[[Sequence[Member]], "list[list[Key]] | None"]
"""Divides the rows of a cohort, or of a class, into lawful sets of keys; None: it cannot be done."""


class Counts(NamedTuple):
    """Numbers of keys of a version. Only ``retained`` counts keys that the source does not have."""

    current: int
    stale: int
    retained: int
    waiting: int
    refused: int
    gone: int
    erased: int


@dataclass(frozen=True)
class Version:
    """What a run published, and which keys it tried as a cohort: an empty set where none was tried."""

    number: int
    now: int
    cells: Mapping[Key, Cell]
    counts: Counts
    cohort: frozenset[Key]
    refused: bool
    """The cohort was tried and could not be published."""

    @property
    def records(self) -> Counter[tuple[Box, Value, int]]:
        """The published records: box, value, number of the class."""
        return Counter((cell.box, cell.value, cell.number) for cell in self.cells.values())


@dataclass
class Entry:
    """What a lineage keeps of a key."""

    status: Literal["waiting", "refused", "published", "gone"]
    since: int
    """When the key began to wait."""
    cell: Cell | None = None
    entered: int | None = None
    """The version that published it first."""
    left: int | None = None
    """The first version without it."""


class InfeasibleError(Exception):
    """The first version of a lineage cannot meet the requirements."""


def lawful(values: Collection[Value], k: int, l: int) -> bool:  # noqa: E741 - the papers' symbol
    """Whether rows with these values may be a class: at least k, no value in more than one row of l."""
    return len(values) >= k and max(Counter(values).values()) * l <= len(values)


@dataclass
class Lineage:
    """The versions of one release.

    Args:
        k: Least number of rows of a class.
        l: No value is in more than one l-th of the rows of a class.
        cohort_rows: A cohort is tried when so many keys wait.
        cohort_every: Or when one key has waited so long and at least k wait; None: never for its time.
        partition: The method: divides the rows of a cohort into classes.
        divide: Divides a class into exit groups; None: a class is one.
    """

    k: int
    l: int  # noqa: E741
    cohort_rows: int
    cohort_every: int | None
    partition: Partition
    divide: Partition | None = None
    entries: dict[Key, Entry] = field(default_factory=dict)
    erased: set[Key] = field(default_factory=set)
    versions: list[Version] = field(default_factory=list)
    classes: int = 0

    def run(self, source: Mapping[Key, Row], now: int) -> Version:
        """Make the next version.

        Raises:
            InfeasibleError: It would be the first one and cannot meet the requirements; nothing is kept.
            ValueError: The clock went backwards.
        """
        if self.versions and now < self.versions[-1].now:
            raise ValueError("the clock went backwards")
        self._exit(source)
        for key in [key for key, entry in self.entries.items() if entry.status == "waiting" and key not in source]:
            del self.entries[key]
        for key in source:
            if key not in self.entries and key not in self.erased and not self._later(key):
                self.entries[key] = Entry("waiting", now)
        cohort = self._due(now)
        refused = bool(cohort) and not self._publish([Member(key, *source[key]) for key in cohort])
        if not self.versions and (refused or not cohort):
            self.entries.clear()
            raise InfeasibleError
        cells = dict(self._in_force())
        counts = self._counts(source, cells)
        version = Version(len(self.versions) + 1, now, cells, counts, frozenset(cohort), refused)
        self.versions.append(version)
        return version

    def erase(self, keys: Collection[Key]) -> frozenset[Key]:
        """Retire at once the exit groups that ever held these keys, which never come back.

        Returns:
            The keys that were in force and are no more, the erased ones among them.
        """
        entries = [self.entries[key] for key in keys if key in self.entries]
        groups = {(entry.cell.number, entry.cell.group) for entry in entries if entry.cell is not None}
        retired = frozenset(key for key, cell in self._in_force() if (cell.number, cell.group) in groups)
        for key in retired:
            self._leave(key)
        for key in keys:
            self.entries.pop(key, None)
        self.erased.update(keys)
        return retired

    def new_lineage(self) -> None:
        """Start anew; the erased keys stay."""
        self.entries.clear()
        self.versions.clear()
        self.classes = 0

    def _in_force(self) -> Iterator[tuple[Key, Cell]]:
        """The published keys."""
        for key, entry in self.entries.items():
            if entry.status == "published" and entry.cell is not None:
                yield key, entry.cell

    def _leave(self, key: Key) -> None:
        """The next version is without this key."""
        self.entries[key].status, self.entries[key].left = "gone", len(self.versions) + 1

    def _exit(self, source: Mapping[Key, Row]) -> None:
        """An exit group in force leaves when none of its keys is in the source."""
        held = {(cell.number, cell.group) for key, cell in self._in_force() if key in source}
        for key in [key for key, cell in self._in_force() if (cell.number, cell.group) not in held]:
            self._leave(key)

    def _due(self, now: int) -> list[Key]:
        """All waiting keys, if they are to be tried; by counts and times only."""
        waiting = [(entry.since, key) for key, entry in self.entries.items() if entry.status == "waiting"]
        due = not self.versions or len(waiting) >= self.cohort_rows
        if not due and self.cohort_every is not None and len(waiting) >= self.k:
            due = now - min(since for since, _ in waiting) >= self.cohort_every
        return [key for _, key in waiting] if due else []

    def _publish(self, cohort: list[Member]) -> bool:
        """Publish a cohort whole, or refuse it whole."""
        classes = self.partition(cohort)
        if classes is None:
            for member in cohort:
                self._refuse(member.key)
            return False
        rows = {member.key: member for member in cohort}
        assert sorted(map(repr, rows)) == sorted(repr(key) for keys in classes for key in keys)
        for keys in classes:
            self.classes += 1
            members = [rows[key] for key in keys]
            box = tuple((min(column), max(column)) for column in zip(*(row.quasi for row in members), strict=True))
            groups = (self.divide(members) if self.divide else None) or [keys]
            assert sorted(map(repr, keys)) == sorted(repr(key) for group in groups for key in group)
            for number, group in enumerate(groups, 1):
                assert lawful([rows[key].value for key in group], self.k, self.l)
                for key in group:
                    entry = self.entries[key]
                    entry.status, entry.entered = "published", len(self.versions) + 1
                    entry.cell = Cell(box, rows[key].value, self.classes, number)
        return True

    def _later(self, key: Key) -> bool:
        """Whether a key that was never seen is not even tried: with persons, where `whole` is promised."""
        return False

    def _refuse(self, key: Key) -> None:
        """A key of a cohort that cannot be published waits for a new lineage."""
        self.entries[key].status = "refused"

    def _counts(self, source: Mapping[Key, Row], cells: Mapping[Key, Cell]) -> Counts:
        """The numbers of keys of this version."""
        states = Counter(
            "erased"
            if key in self.erased
            else "later"
            if key not in self.entries
            else self.entries[key].status
            if key not in cells
            else "current"
            if holds(cells[key], row)
            else "stale"
            for key, row in source.items()
        )
        return Counts(
            retained=sum(key not in source for key in cells),
            **{name: states[name] for name in Counts._fields if name != "retained"},
        )


def holds(cell: Cell, row: Row) -> bool:
    """Whether what is published of a key is still true: the same value, and quasi values in the box."""
    inside = all(low <= x <= high for x, (low, high) in zip(row.quasi, cell.box, strict=True))
    return cell.value == row.value and inside
