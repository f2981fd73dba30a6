"""The versions that readers had, with which a coming version is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lineage import history_table_of, of_other_secret
from sqlanon.release.catalog.state import ReleaseState

SEEN = ("published", "replaced", "withdrawn", "dropped")
"""Versions that readers had at some time."""


class EarlierVersions:
    """The versions before a coming version.

    Args:
        state: the release; where ``every``, with all its versions.
        previous: the version that readers have, or had last; None without such a version.
        every: all versions that readers had are compared with the coming version, as they may have kept them. Otherwise
            only versions with boxes of their own.
    """

    def __init__(self, state: ReleaseState, previous: Entry | None, *, every: bool) -> None:
        self.state = state
        self.previous = previous
        self._every = every

    def counts_candidates(self, entry: Entry) -> bool:
        """Whether a comparison with a version counts the rows that fit two boxes, not those of two classes."""
        return self._every or entry.boxes is not None

    def with_candidates(self) -> list[Entry]:
        """The versions that `counts_candidates` holds for, oldest first; none where readers had no version."""
        if self.previous is None:
            return []
        return [entry for entry in self.state.versions if entry.status in SEEN and self.counts_candidates(entry)]

    def comparable(self, *, every: bool = True) -> list[Entry]:
        """The versions with a history: the previous version, and after a rollback the newest as well.

        ``every``: also those of `with_candidates`.
        """
        comparable = self._comparable(self.state.versions)
        newest = max((entry.version for entry in self.state.versions if entry.status in SEEN), default=0)
        if not any(entry.version == newest for entry in comparable):
            # An earlier version with dropped tables may have a history.
            comparable = self._comparable(self.state.every_version())
        versions = [comparable[-1].version] if comparable else []
        versions += [self.previous.version] if self.previous else []
        versions += [entry.version for entry in comparable if every and self.counts_candidates(entry)]
        return [entry for entry in comparable if entry.version in versions]

    def has_lost(self, comparable: Sequence[Entry]) -> bool:
        """Whether the previous version is not among them: the lineage is gone or was made with another secret."""
        previous = self.previous
        return (
            previous is not None and previous.frozen and all(entry.version != previous.version for entry in comparable)
        )

    def _comparable(self, versions: Sequence[Entry]) -> list[Entry]:
        return [
            entry for entry in list_kept(versions, self.state.exists) if not of_other_secret(entry, self.state.secret)
        ]


def list_kept(entries: Sequence[Entry], exists: Callable[[TableRef], bool]) -> list[Entry]:
    """The versions that readers had and that still have a history, oldest first."""
    return [
        entry
        for entry in entries
        if entry.status in SEEN and entry.policy.get("key") and exists(history_table_of(entry))
    ]
