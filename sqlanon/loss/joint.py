"""Joint counts of quasi and sensitive values in the source.

They are computed while rows still have all their codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlanon.declared import METRICS, asked_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.engines.base import TableRef
    from sqlanon.table.encode import Encoded
    from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Joint:
    """Scratch tables (code, value, n), by quasi code column and sensitive code column.

    None if no metric needs them.
    """

    tables: Mapping[tuple[str, str], TableRef] = field(default_factory=dict)


def joint_counts(scratch: Scratch, encoded: Encoded, words: Sequence[str]) -> Joint:
    """Count pairs of values, as far as the metrics that a policy asks for need them.

    Args:
        scratch: the run.
        encoded: the work table, complete.
        words: the policy's `metrics`.

    Cost: a grouping of the rows for every quasi column and every sensitive one.
    """
    tables: dict[tuple[str, str], TableRef] = {}
    if any(METRICS[name].sensitive for name in asked_metrics(words, sensitive=bool(encoded.sensitive))):
        for value in encoded.sensitive:
            for domain in encoded.quasi:
                table = tables[domain.code, value.code] = scratch.table(f"joint_{domain.code}_{value.code}")
                scratch.execute("loss/joint", joint=table, work=encoded.work, column=domain.code, value=value.code)
    return Joint(tables)
