"""The clustering kernels on tables of the oracle, without a database."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.random import seed_state
from sqlanon.kernels.rows import Rows
from sqlanon.methods.clustering.kernels.class_costs import Objective
from sqlanon.methods.clustering.kernels.cluster import Count, Flag
from sqlanon.methods.clustering.kernels.kmember import cluster_k_members
from sqlanon.methods.clustering.kernels.sequential import cluster_in_sequence
from sqlanon.methods.clustering.objective import objective_of
from sqlanon.papers.agglomerative.kernels import cluster_by_unions
from sqlanon.papers.mdav.kernels import Points, cluster_by_mdav
from tests.oracle.domains import Table
from tests.oracle.orders import axis
from tests.oracle.requirements import Privacy
from tests.properties.kernel import demands
from tests.properties.onedim import by_number, in_order

Classes = list[list[int]]
WEIGHTS = {"loss": (0, 0), "mi": (1, 0), "pmi": (1, 1), "mixed": (100, 50)}
"""What log F(R) and log F(R, s) count for; w is 50."""
BY_DISTANCE = ("kmember:grow=cluster", "kmember:grow=centre", "agglomerative", "mdav")


def ranked(table: Table) -> np.ndarray:
    """The sensitive values of every row together, numbered in their order."""
    order = sorted(set(table.sa_codes))
    return np.array([order.index(one) for one in table.sa_codes], np.int64)


def priced_by(table: Table, name: str) -> tuple[Objective, np.ndarray]:
    """An objective, and the value of every row that it counts."""
    rows, shape = in_order(table)
    whole, part = WEIGHTS[name]
    value = ranked(table) if part else np.zeros(table.rows, np.int64)
    codes = np.ascontiguousarray(rows.codes[:, : len(table.quasi)].T)
    return objective_of(shape, codes, value, int(value.max()) + 1, whole, part), value


def repeated(table: Table, times: int) -> tuple[Rows, Geometry]:
    """The rows as they are, so many times one after the other, and the geometry."""
    rows, shape = in_order(table)
    return Rows(*(np.concatenate([part] * times) for part in rows)), shape


def by_sequential(
    table: Table,
    privacy: Privacy,
    options: Mapping[str, str],
    seed: int,
    times: int = 1,
    stop: Flag | None = None,
    done: Count | None = None,
) -> tuple[Classes, int]:
    """The classes of rows as they are, and what they cost; see `repeated`."""
    objective, value = priced_by(table, options.get("objective", "loss"))
    rows, asked = repeated(table, times)[0], demands(table, privacy)
    key = ranked(table) if len(asked.add) else np.zeros(table.rows, np.int64)
    group = np.empty(len(rows.number), np.int32)
    state = np.random.SeedSequence((seed, 0, 0)).generate_state(1, np.uint64)
    cost = cluster_in_sequence(
        rows.codes,
        np.tile(value, times),
        np.tile(key, times),
        objective,
        asked,
        asked._replace(k=1),
        rows.number,
        int(options.get("alpha", 50)),
        int(options.get("omega", 150)),
        options.get("start", "random") == "random",
        seed_state(int(state[0])),
        group,
        np.zeros(1, np.int8) if stop is None else stop,
        np.zeros(1, np.int64) if done is None else done,
    )
    return by_number(group), int(cost)


def by_distance(
    name: str, table: Table, privacy: Privacy, stop: Flag | None = None, times: int = 1, done: Count | None = None
) -> tuple[np.ndarray, int]:
    """The number of every row's class by one of `BY_DISTANCE`, -1 where none is written, and how many there are.

    See `repeated`.
    """
    rows, shape = repeated(table, times)
    asked, group = demands(table, privacy), np.full(len(rows.number), -1, np.int32)
    own = (rows.places, rows.sets, shape, asked, rows.number)
    stop = np.zeros(1, np.int8) if stop is None else stop
    done = np.zeros(1, np.int64) if done is None else done
    if name == "agglomerative":
        return group, cluster_by_unions(*own, group, stop, done)
    if name != "mdav":
        return group, cluster_k_members(*own, name == "kmember:grow=centre", group, stop, done)
    nominal = [column.kind == "nominal" for column in table.quasi]
    lines = [column.codes if own else axis(column) for column, own in zip(table.quasi, nominal, strict=True)]
    codes = np.array([(column.size + 2) * own for column, own in zip(table.quasi, nominal, strict=True)], np.int64)
    weight = np.array([column.weight for column in table.quasi], np.int64)
    points = Points(np.tile(np.array(lines, np.int32).T, (times, 1)), codes, weight)
    return group, cluster_by_mdav(points, *own, group, stop, done)


def clusterings(table: Table, privacy: Privacy) -> dict[str, Classes]:
    """The classes of every clustering method that lowers the loss, by its name."""
    found = {name: by_number(by_distance(name, table, privacy)[0]) for name in BY_DISTANCE}
    for start in ("random", "tree"):
        found[f"sequential:start={start}"] = by_sequential(table, privacy, {"start": start}, 1)[0]
    return found
