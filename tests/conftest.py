"""Fixtures that every suite shares: databases on each engine, and hypothesis profiles."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from sqlanon.declared import effort
from tests.covering import share_out
from tests.draws import draw_the_same
from tests.engines import ENGINES, PAIR, TestEngine, quick_folder, required
from tests.jobs import CORE, JOBS, is_of
from tests.kept_sql import keep_sql
from tests.order import Order, names_of
from tests.reach import changed_files, choose, read
from tests.shelf import Shelf
from tests.times import Costs

Connect = Callable[[TestEngine], Any]

CHOSEN = pytest.StashKey[list[str] | None]()
"""What ``--changed`` runs: test files, tests, and single items."""

RUNS = pytest.StashKey[list[tuple[str, bool, bool, frozenset[str]]]]()
"""Of each collected test: its id, whether the default run and the thorough run take it, and its marks."""

LONG = ("benchmarks", "dbt", "paper", "safety")
"""Folders of the longest tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the default run leaves out has a run of its own."""
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run what the default run leaves out: exhaustive searches, all crash points, small benchmarks, and more "
        "random tables",
    )
    parser.addoption(
        "--job",
        choices=[CORE, *JOBS],
        help="with --thorough: a job of it, see tests/jobs.py",
    )
    parser.addoption(
        "--changed",
        action="store_true",
        help="run changed tests, those of changed files, and those that failed last",
    )
    parser.addoption("--times", type=Path, metavar="FILE", help="write what each folder, file and test costs")
    parser.addoption(
        "--order",
        metavar="SEED",
        help="run files, and the tests of each file, in an order drawn from this seed",
    )
    parser.addoption(
        "--random",
        action="store_true",
        help="draw random tables and the secrets of releases anew; without it every run draws the same",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the default effort, the number and the seed of random tables, and where files of tests lie.

    A terminated run still stops its servers.
    """
    # Policies of tests that name neither method nor effort take the quickest; tests/unit/declared/test_effort.py has
    # the default.
    effort.DEFAULT = "fast"
    again = not config.getoption("--random")
    settings.register_profile(
        "sqlanon",
        max_examples=25 if config.getoption("--thorough") else 8,
        deadline=None,
        derandomize=again,
        # Explanations trace every line of a failing test; CPython 3.11 was seen to end such a trace never.
        phases=[phase for phase in Phase if phase is not Phase.explain],
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.function_scoped_fixture,
            HealthCheck.data_too_large,
        ],
    )
    settings.load_profile("sqlanon")
    if again:
        draw_the_same(config)
    keep_sql(config)
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(quick_folder()))
    if hasattr(config, "workerinput"):
        config.stash[CHOSEN] = config.workerinput["chosen"]
    elif config.getoption("--changed"):
        failed = config.cache.get("cache/lastfailed", {}) if config.cache is not None else {}
        config.stash[CHOSEN] = sorted(choose(changed_files(), read()) | set(failed))
    if chosen := config.stash.get(CHOSEN, None):
        files = {name.partition("::")[0] for name in chosen}
        config.args[:] = sorted(name for name in files if (config.rootpath / name).exists())
    if seed := config.getoption("--order"):
        config.pluginmanager.register(Order(seed))
    if file := config.getoption("--times"):
        config.pluginmanager.register(Costs(file))
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker runs what was chosen here."""
    node.workerinput["chosen"] = node.config.stash.get(CHOSEN, None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests stay in memory until the end: Python does not look for garbage among them.

    Among what tests make it looks less often than by default: trees of SQL are many small objects that live shortly.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    """After pytest's own search for garbage all of it is garbage.

    Modules in C say what they leaked if it stays until the process ends.
    """
    atexit.register(gc.unfreeze)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test on an engine has the mark of its family.

    ``-m postgres`` selects all that runs on PostgreSQL, before engines are chosen.
    """
    params = item.callspec.params.values() if hasattr(item, "callspec") else ()
    families = {value.family for value in params if isinstance(value, TestEngine)}
    if not {"both_dbs", "both_shelves"}.isdisjoint(getattr(item, "fixturenames", ())):
        families |= {engine.family for engine in PAIR}
    for family in families:
        item.add_marker(family)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The default run and the thorough run share the tests (`share_out`).

    A test that is asked for by its name is run as a whole.
    """
    first, second = share_out(items)
    config.stash[RUNS] = [
        (item.nodeid, item in first, item in second, frozenset(mark.name for mark in item.iter_markers()))
        for item in items
    ]
    if any("::" in asked for asked in config.args):
        return
    chosen = frozenset(config.stash.get(CHOSEN, None) or ())
    taken, job = second if config.getoption("--thorough") else first, config.getoption("--job")
    kept, left = [], []
    for item in items:
        wanted = item in taken and (not chosen or not chosen.isdisjoint(names_of(item)))
        wanted = wanted and (not job or is_of(job, item.nodeid))
        (kept if wanted else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
    # Processes share what is left: the longest tests come first, so that none of them runs alone at the end.
    items[:] = sorted(kept, key=lambda item: Path(item.nodeid.split("::")[0]).parent.name not in LONG)


def ready(engine: TestEngine) -> TestEngine:
    """Skip where the engine is missing; fail where it is required."""
    if reason := engine.missing():
        (pytest.fail if required(engine.family) else pytest.skip)(f"{engine.name}: {reason}")
    return engine


def _connector(directory: Path, stack: ExitStack) -> Connect:
    import sqlanon

    def connect(engine: TestEngine) -> Any:
        url = ready(engine).fresh(directory)
        stack.callback(engine.drop, url)
        return stack.enter_context(sqlanon.connect(url))

    return connect


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    """Opens fresh empty databases for one test and closes them after it."""
    with ExitStack() as stack:
        yield _connector(tmp_path, stack)


@pytest.fixture(scope="module")
def connect_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """As `connect`, for databases that a whole module shares: one an engine."""
    with ExitStack() as stack:
        yield cache(_connector(tmp_path_factory.mktemp("databases"), stack))


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def db(request: pytest.FixtureRequest, connect: Connect) -> Any:
    """A fresh, empty sqlanon `Database` on every engine in turn."""
    return connect(request.param)


@pytest.fixture(scope="module", params=PAIR, ids=lambda engine: engine.name)
def shared_db(request: pytest.FixtureRequest, connect_module: Connect) -> Any:
    """One `Database` per engine family for a whole module; every test makes tables of new names."""
    return connect_module(request.param)


@pytest.fixture(scope="session")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[TestEngine], Shelf]]:
    """The shelf of each engine, for all tests of this process."""
    with ExitStack() as stack:

        @cache
        def give(engine: TestEngine) -> Shelf:
            shelf = Shelf(ready(engine), tmp_path_factory.mktemp("shelf"))
            stack.callback(shelf.drop)
            return shelf

        yield give


@pytest.fixture(params=PAIR, ids=lambda engine: engine.name)
def shelf(request: pytest.FixtureRequest, shelves: Callable[[TestEngine], Shelf]) -> Iterator[Shelf]:
    """Releases that tests read (`tests.shelf`), of each engine family in turn."""
    shelf = shelves(request.param)
    yield shelf
    shelf.check()


@pytest.fixture
def both_shelves(shelves: Callable[[TestEngine], Shelf]) -> Iterator[tuple[Shelf, ...]]:
    """The shelf of each family, to compare their answers."""
    both = tuple(map(shelves, PAIR))
    yield both
    for shelf in both:
        shelf.check()


@pytest.fixture(scope="module")
def both_dbs(connect_module: Connect) -> tuple[Any, ...]:
    """One `Database` of each family, to compare their answers."""
    return tuple(connect_module(engine) for engine in PAIR)


@pytest.fixture(scope="module")
def side_by_side() -> Iterator[Any]:
    """A connection of DuckDB on which oracles list the sources that are consistent with a release."""
    import duckdb

    with duckdb.connect() as connection:
        yield connection
