"""The oracle of every method by its name in the registry, and what each takes: a new method needs one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from tests.oracle.anatomy import accepts as takes_anatomy
from tests.oracle.anatomy import anatomy
from tests.oracle.best import best
from tests.oracle.clustering import agglomerative, clustered, kmember, mdav
from tests.oracle.divisions import wide
from tests.oracle.domains import Table
from tests.oracle.lattice import local
from tests.oracle.mondrian import mondrian
from tests.oracle.orders import ORDERS
from tests.oracle.requirements import Privacy
from tests.oracle.sequential import sequential
from tests.oracle.solvers import asked, solve
from tests.oracle.suppress import suppress
from tests.oracle.tds import tds
from tests.oracle.topdown import topdown

Options = Mapping[str, str]
Classes = list[list[int]]

K, WHOLE_L, FRACTIONAL_L, DISTINCT_L, SEVERAL, JOINT = (
    "k alone",
    "a whole l of one sensitive column",
    "a fractional l",
    "distinct l",
    "several sensitive columns",
    "several sensitive columns jointly",
)
KINDS = frozenset({K, WHOLE_L, FRACTIONAL_L, DISTINCT_L, SEVERAL, JOINT})
"""Kinds of requirement that methods distinguish."""


def kind_of(table: Table, privacy: Privacy) -> str:
    """What is asked beyond k."""
    l, distinct = Fraction(privacy.l or 1), privacy.distinct_l or 1  # noqa: E741 - the papers' symbol
    if not table.sensitive or (l <= 1 and distinct <= 1):
        return K
    if len(table.sensitive) > 1:
        return JOINT if privacy.joint else SEVERAL
    if distinct > 1:
        return DISTINCT_L
    return WHOLE_L if l.denominator == 1 else FRACTIONAL_L


@dataclass(frozen=True)
class Oracle:
    """A method.

    Args:
        classes: the classes of a table, by privacy, options and seed.
        takes: kinds of requirement that it takes.
        unless: for values of options that take fewer kinds: these.
        only: a further condition on what it takes.
        elsewhere: options that have suites of their own (`tests.contract.test_dual`); here they keep their first value.
        instead: options whose default has a suite of its own, and the value that takes its place here.
        in_memory: kinds for which it keeps the whole table in memory, and refuses a table that is larger.
        executions: those that the options tried here have, of those that the method declares.
    """

    classes: Callable[[Table, Privacy, Options, int], Classes]
    takes: frozenset[str] = KINDS
    unless: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    only: Callable[[Table, Privacy], bool] = lambda _, __: True
    elsewhere: frozenset[str] = frozenset()
    instead: Mapping[str, str] = field(default_factory=dict)
    in_memory: frozenset[str] = frozenset()
    executions: tuple[str, ...] = ("kernel", "pushdown")

    def kinds(self, options: Options) -> frozenset[str]:
        """The kinds of requirement that it takes with these options."""
        fewer = [kinds for (name, value), kinds in self.unless.items() if options.get(name) == value]
        return self.takes.intersection(*fewer)

    def accepts(self, table: Table, privacy: Privacy, options: Options) -> bool:
        """Whether it takes what is asked of a table with these options."""
        return kind_of(table, privacy) in self.kinds(options) and self.only(table, privacy)


def one_dimensional(order: str, *, fast: bool = False) -> Oracle:
    """An order and its solver."""

    def classes(table: Table, privacy: Privacy, options: Options, seed: int) -> Classes:
        least = max(privacy.k, int(privacy.l or 1), privacy.distinct_l or 1) if table.sensitive else privacy.k
        minimize = options.get("minimize", "gcp")
        found = [solve(table, ORDERS[order](table, seed, least), privacy, fast, minimize)]
        if order == "tree" and asked(table, privacy):
            # Of two that lose the same the curve's counts, so it is first.
            found.insert(0, solve(table, ORDERS["hilbert"](table, seed, least), privacy, fast, minimize))
        return min(found, key=lambda some: sum(len(rows) * wide(table, rows) for rows in some))

    only_k = frozenset({K})
    return Oracle(
        classes,
        frozenset({K, WHOLE_L, FRACTIONAL_L}) if fast else KINDS,
        {("minimize", "sum"): only_k, ("minimize", "max"): only_k},
        elsewhere=frozenset({"solver"}),
        in_memory=KINDS - only_k,
    )


ORACLES: dict[str, Oracle] = {
    "tree": one_dimensional("tree"),
    "hilbert": one_dimensional("hilbert"),
    "hilbert_fast": one_dimensional("hilbert", fast=True),
    "idistance": one_dimensional("idistance"),
    "idistance_fast": one_dimensional("idistance", fast=True),
    "mondrian": Oracle(
        lambda table, privacy, options, _: mondrian(
            table, privacy, options.get("variant", "strict"), options.get("cut", "loss")
        )
    ),
    "anatomy": Oracle(
        lambda table, privacy, _, seed: anatomy(table, privacy, seed), frozenset({WHOLE_L}), only=takes_anatomy
    ),
    "suppress": Oracle(
        lambda table, privacy, options, _: suppress(table, privacy, options),
        elsewhere=frozenset({"rest", "solver"}),
        instead={"variant": "cascade"},  # tests/contract/test_suppress_better.py
        in_memory=KINDS,
    ),
    "best": Oracle(
        lambda table, privacy, _, seed: best(
            table, privacy, *(one_dimensional(order).classes(table, privacy, {}, seed) for order in ("tree", "hilbert"))
        ),
        elsewhere=frozenset({"metric"}),
        in_memory=KINDS,
        executions=("kernel",),
    ),
    "tds": Oracle(
        lambda table, privacy, _, __: tds(table, privacy),
        elsewhere=frozenset({"publish"}),
        in_memory=KINDS,
        executions=("kernel",),
    ),
    "fulldomain": Oracle(
        lambda table, privacy, _, __: local(table, privacy),
        elsewhere=frozenset({"search", "metric", "divide"}),
        in_memory=KINDS,
        executions=("kernel",),
    ),
    "kmember": Oracle(
        lambda table, privacy, options, _: clustered(table, privacy, partial(kmember, grow=options["grow"])),
        in_memory=KINDS,
        executions=("kernel",),
    ),
    "mdav": Oracle(
        lambda table, privacy, _, __: clustered(table, privacy, mdav), in_memory=KINDS, executions=("kernel",)
    ),
    "agglomerative": Oracle(
        lambda table, privacy, _, __: clustered(table, privacy, agglomerative), in_memory=KINDS, executions=("kernel",)
    ),
    "sequential": Oracle(
        lambda table, privacy, options, seed: clustered(table, privacy, sequential(options, seed)),
        unless={
            ("objective", "pmi"): frozenset({WHOLE_L, FRACTIONAL_L, DISTINCT_L}),
            ("objective", "mixed"): frozenset({WHOLE_L, FRACTIONAL_L, DISTINCT_L}),
        },
        in_memory=KINDS,
        executions=("kernel",),
    ),
    "topdown": Oracle(lambda table, privacy, _, seed: topdown(table, privacy.k, seed), frozenset({K})),
}
