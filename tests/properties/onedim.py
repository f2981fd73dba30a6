"""Tables of the oracle as the one-dimensional kernels take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np

from sqlanon.declared import METHODS
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.rows import Rows
from sqlanon.methods.base import Context
from sqlanon.methods.method import import_method
from sqlanon.methods.onedim.method import OneDimensional
from sqlanon.methods.onedim.row_orders import Order
from sqlanon.methods.shared.kernel_input import LoadedTable, rows_of
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.requirements import make_requirements
from sqlanon.progress import SilentProgress
from sqlanon.spec import PrivacySpec
from tests.oracle.domains import Table
from tests.oracle.requirements import Privacy
from tests.properties.kernel import geometry, product_codes


def kinds() -> dict[str, type[OneDimensional]]:
    """The one-dimensional methods of the registry."""
    every = {name: import_method(declared) for name, declared in METHODS.items()}
    return {name: kind for name, kind in every.items() if issubclass(kind, OneDimensional)}


def order_of(name: str) -> Order:
    """The order of one of them, with its default options."""
    return kinds()[name](**METHODS[name].values({})).make_order()


def in_order(table: Table, order: Sequence[int] | None = None) -> tuple[Rows, Geometry]:
    """The rows in an order (as they are, without one), and the geometry."""
    order = range(table.rows) if order is None else order
    columns = [product_codes(column) for column in table.quasi]
    codes = np.array(columns, np.int32)
    shape, _ = geometry(table)
    return rows_of(codes, np.array(order, np.int32), shape), shape


def by_first(first: np.ndarray, rows: Sequence[int]) -> list[tuple[int, ...]]:
    """Classes from marks where they begin."""
    classes: list[list[int]] = []
    for row, begins in zip(rows, first.tolist(), strict=True):
        if begins:
            classes.append([])
        classes[-1].append(row)
    return [tuple(rows) for rows in classes]


def by_number(group: Sequence[int] | np.ndarray) -> list[list[int]]:
    """Classes from the number of each row's class."""
    classes: dict[int, list[int]] = {}
    for row, number in enumerate(np.asarray(group).tolist()):
        classes.setdefault(number, []).append(row)
    return [classes[number] for number in sorted(classes)]


def asked_of(privacy: Privacy, names: tuple[str, ...]) -> tuple[Requirement, ...]:
    """The product's requirements."""
    return make_requirements(
        PrivacySpec(k=privacy.k, l=privacy.l, distinct_l=privacy.distinct_l, joint=privacy.joint), names
    )


def context_of(table: Table, privacy: Privacy, seed: int = 0, threads: int = 1) -> Context:
    """What orders and solvers read of a run, without a database: the rows of every code are all they ask of one."""
    codes = [product_codes(column) for column in table.quasi]
    sizes = geometry(table)[1].tolist()
    quasi = [SimpleNamespace(codes=size, table=j) for j, size in enumerate(sizes)]
    counts = [np.bincount(column, minlength=size) for column, size in zip(codes, sizes, strict=True)]

    def ask(name: str, domains: list[int]) -> list[int]:
        assert name == "table/domain_counts"
        return domains

    def fetch(domains: list[int], _: object) -> list[np.ndarray]:
        some = [counts[j] for j in domains]
        places = [np.full(len(count), place, np.int32) for place, count in enumerate(some, 1)]
        codes = [np.arange(len(count), dtype=np.int32) for count in some]
        return [np.concatenate(part) for part in (places, codes, some)]

    sensitive = [SimpleNamespace(codes=max(s.codes) + 1) for s in table.sensitive]
    return cast(
        "Context",
        SimpleNamespace(
            scratch=SimpleNamespace(sql=ask, fetch_arrays=fetch),
            encoded=SimpleNamespace(quasi=quasi, sensitive=sensitive, persons=[], counted=sensitive, rows=table.rows),
            requirements=asked_of(privacy, tuple(s.name for s in table.sensitive)),
            threads=threads,
            accuracy=None,
            seed=seed,
            progress=SilentProgress(),
        ),
    )


def loaded(table: Table, stored: Sequence[int] | None = None) -> LoadedTable:
    """The work table of a table whose rows are stored in an order; row ids are the table's row numbers."""
    stored = range(table.rows) if stored is None else stored
    codes = np.array([[column[row] for row in stored] for column in map(product_codes, table.quasi)], np.int32)
    sensitive = [np.array([s.codes[row] for row in stored], np.int32) for s in table.sensitive]
    return LoadedTable(np.array(stored, np.int32), codes, sensitive, geometry(table)[0])


def shown(table: Table, classes: Sequence[Sequence[int]]) -> Counter[object]:
    """Classes by what distinguishes their rows."""
    return Counter(tuple(sorted((table.codes[r], table.sa_codes[r]) for r in rows)) for rows in classes)
