"""Exit groups of large classes.

Large classes are divided when they are made, so that they need not be deleted whole before a row of them leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import TableRef
from sqlanon.formats import RowGroups
from sqlanon.privacy.base import Grouped, Requirement
from sqlanon.table.scratch import Scratch


def exit_groups(
    scratch: Scratch,
    history: TableRef,
    groups: RowGroups,
    k: int,
    requirements: Sequence[Requirement],
    sensitive: int,
) -> TableRef | None:
    """Divide classes of 2k rows and more into groups that each meet every requirement, as many as that allows.

    An exit group publishes the cells of the class and is a separate class in the lineage. Rows are dealt to groups by
    their sensitive values in turn; if a group of a class fails, the class is divided into half as many groups.

    Args:
        scratch: the run.
        history: the cohort, as `sqlanon.release.history.history.rows_of` makes it.
        groups: classes of the cohort.
        k: rows of a group, at least.
        requirements: requirements on every group; none may count persons.
        sensitive: number of sensitive columns.

    Returns:
        divided rows: hash of the key, class, number of the group; None if no class is divided.

    Cost: a sort of the cohort by class for every attempt; attempts: 1 + the logarithm of the largest class in k.
    """
    numbers, names = range(1, sensitive + 1), [f"s{i}" for i in range(1, sensitive + 1)]
    divided: TableRef | None = None
    least, attempt = max(k, 1), 0
    while True:
        dealt = scratch.table(f"dealt_{attempt}")
        scratch.execute("frozen/dealt", dealt=dealt, history=history, least=least, sensitive=numbers, divided=divided)
        if not scratch.count("table/count", source=dealt):
            break
        below = []
        for i, requirement in enumerate(requirements):
            below.append(scratch.table(f"below_{attempt}_{i}"))
            requirement.below(scratch, below[-1], Grouped(dealt, ("class", "part"), names, None, dealt, names))
        next_divided = scratch.table(f"divided_{attempt}")
        scratch.execute("frozen/divided", made=next_divided, dealt=dealt, below=below, before=divided)
        divided, least, attempt = next_divided, 2 * least, attempt + 1
    if divided is None:
        return None
    exits = scratch.table("exits")
    scratch.execute("frozen/exits", exits=exits, divided=divided, groups=groups)
    return exits
