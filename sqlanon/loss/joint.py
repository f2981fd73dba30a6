"""Facts about the source's rows for metrics, computed while the rows still have all their codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlanon.declared import METRICS, list_metrics
from sqlanon.loss.least_gcp import find_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.engines.base import TableRef
    from sqlanon.table.encode import EncodedTable
    from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Joint:
    """Facts for the metrics that a policy asks for.

    Attributes:
        tables: scratch tables (code, value, n), by quasi code column and sensitive code column: joint counts of values.
        least: GCP at least, of any release.
    """

    tables: Mapping[tuple[str, str], TableRef] = field(default_factory=dict)
    least: float = 0.0


def joint_counts(scratch: Scratch, encoded: EncodedTable, words: Sequence[str], k: int = 1, threads: int = 1) -> Joint:
    """Read the rows, as far as the metrics that a policy asks for need it.

    Args:
        scratch: the run.
        encoded: the work table, complete.
        words: the policy's `metrics`.
        k: rows of a class, at least.
        threads: may work.

    Cost: a grouping of the rows for every quasi column and every sensitive column; see `find_least`.
    """
    tables: dict[tuple[str, str], TableRef] = {}
    metrics = [METRICS[name] for name in list_metrics(words, sensitive=bool(encoded.sensitive))]
    least = find_least(scratch, encoded, k, threads) if any(metric.bounds for metric in metrics) else 0.0
    if any(metric.sensitive for metric in metrics):
        for value in encoded.sensitive:
            for domain in encoded.quasi:
                table = tables[domain.code, value.code] = scratch.table(f"joint_{domain.code}_{value.code}")
                scratch.execute("loss/joint", joint=table, work=encoded.work, column=domain.code, value=value.code)
    return Joint(tables, least)
