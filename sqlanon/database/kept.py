"""What is kept in a database besides releases: leftovers of killed runs, and what dropped tables leave in its files."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.progress import Progress
from sqlanon.release.publish.clean import clean
from sqlanon.release.publish.compact import compact, compaction_of
from sqlanon.results import CompactReport


class Kept:
    """The part of a connected database that removes what no release needs."""

    engine: Engine
    _progress: Progress
    _asked: MutableMapping[Any, Any]

    def clean(self) -> tuple[str, ...]:
        """Drop what killed runs and old versions left; returns what was dropped.

        That is what the catalog names, and on an engine without temporary tables the scratch tables of runs that are
        gone.
        """
        return clean(self.engine)

    @property
    def lingering(self) -> str:
        """What dropped tables and deleted rows leave in the database's files, and what removes it; empty: nothing."""
        if self.engine.compaction is not None:
            return self.engine.compaction.leaves
        lack = self.engine.lacks["--compact"]
        return "" if lack.kind == "never" else lack.why  # never: there are no files

    def check_compaction(self) -> None:
        """Look whether `compact` can begin, before something is dropped; raises what it raises."""
        compaction_of(self.engine).check_compaction()

    def compact(self, releases: Sequence[str] | None = None) -> CompactReport:
        """Write the database's file, or the private tables, anew; see `sqlanon.release.publish.compact.compact`.

        On DuckDB the connection is made anew: temporary tables, attached databases and settings of before are gone.
        """
        self._asked.clear()
        return compact(self.engine, releases, self._progress)
