"""What works where.

A marked lack must be refused with its reason, and everything without a marker must work.

Of engines each feature is used; of methods, formats and requirements a policy asks for each ability, and is taken or
refused. That what is taken then does what it says is tested by the suites of each ability.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon import policy
from sqlanon.database.database import Database
from sqlanon.declared import FORMATS, METHODS, REQUIREMENTS
from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import FEATURES, LACKS, NOISY
from sqlanon.engines.names import ELSEWHERE, LAKES, TO_LAKES
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.lack import UNDECLARED
from sqlanon.policy import release
from sqlanon.progress import SilentProgress
from sqlanon.release.divide.classes import Machine
from sqlanon.testing.methods import ABILITIES, POPULATION, check_ability, lack_of
from tests.weakest import weakest

# --- engines
# -----------------------------------------------------------------------------------------------------------

POWERS: Mapping[str, Callable[[Any], bool]] = {
    "publish_file": lambda engine: engine.second_file is not None,
    "refresh: {mode: frozen}": lambda engine: engine.transactions and engine.updates,
    "tables": lambda engine: engine.transactions,
    "statistics": lambda _: True,
    NOISY: lambda engine: engine.ledger_engine is not None,
    "--compact": lambda engine: engine.compaction is not None,
    TO_LAKES: lambda engine: engine.lake is not None,
    ELSEWHERE: lambda engine: engine.transfer is not None,
    LAKES: lambda engine: engine.lake_engine is not None,
    "install-functions": lambda engine: bool(engine.capabilities.temporary_functions),
    "query --as": lambda engine: engine.rights is not None,
    "--from-labels": lambda engine: engine.dialect == "postgres",
}
"""What an engine must have for a feature."""
ANOTHER_WAY = {
    "files": "files are read and written by a DuckDB in memory",
    "frames": "so are data frames",
    "arrow": "small tables are worked on by its own statements",
    "workers": "kernels run in this process",
    "few_rows": "statements are planned as ever",
    "conceals": "there is no log that shows them",
    "fetch_words": "small numbers are read in a field each",
    "load_list": "by way of a table",
    "temporary": "scratch tables are in the private schema",
    "ordered": "rows are put in order here",
    "reception": "releases go to DuckDB, PostgreSQL and lake tables",
}
"""What an engine may lack without anybody noticing."""


def table_of(db: Any) -> str:
    name = f"t_{uuid.uuid4().hex[:10]}"
    rows = [(who, 20 + who % 4, "ab"[who % 2]) for who in range(24)]
    db.engine.load_rows(
        db.engine.target(name), [("id", "INTEGER"), ("age", "INTEGER"), ("ill", db.engine.capabilities.text_type)], rows
    )
    return name


def release_of(db: Any, **more: Any) -> str:
    name = table_of(db)
    db.anonymize(name, name=name, identifiers="id", quasi="age", sensitive="ill", k=2, **more)
    return name


def published_together(db: Any, folder: Path) -> None:
    one, other = table_of(db), table_of(db)
    columns = "columns: {id: pseudonym, age: quasi, ill: insensitive}"
    file = folder / f"{one}.yml"
    file.write_text(
        f"version: 1\nreleases:\n  - name: {one}\n    person: id\n    tables:\n"
        f"      - {{source: {one}, name: {one}_first, privacy: {{k: 2}}, publish: release.{one}, {columns}}}\n"
        f"      - {{source: {other}, name: {one}_second, privacy: {{k: 2}}, publish: release.{other}, {columns}}}\n"
    )
    db.run_tables(policy.load(file).releases)


def frozen(db: Any, _: Path) -> None:
    name = table_of(db)
    text = (
        f"version: 1\nreleases:\n  - name: {name}\n    source: {name}\n    columns: {{id: identifier, age: quasi, ill: "
        "sensitive}\n    key: id\n    privacy: {k: 2}\n    refresh: {mode: frozen}\n"
    )
    (spec,) = policy.loads(text, {}).releases
    db.run(spec)


def counted(db: Any, _: Path) -> None:
    name = table_of(db)
    text = (
        f"version: 1\nreleases:\n  - name: {name}\n    source: {name}\n    person: id\n    statistics:\n"
        "      columns: {ill: {}}\n      tables: [{name: all, by: ill}]\n      measures: {n: count}\n"
        "      protect: {persons: 3}\n"
    )
    (spec,) = policy.loads(text, {}).releases
    db.run(spec)


def noisy(db: Any, _: Path) -> None:
    name = table_of(db)
    text = (
        f"version: 1\nbudgets:\n  - {{name: {name}, persons: {{{name}: id}}, epsilon: 1}}\n"
        f"releases:\n  - name: {name}\n    source: {name}\n    every: 1d\n"
        f"    statistics:\n      budget: {name}\n      epsilon: 1\n"
        "      tables: [{by: ill}]\n      groups: {ill: [a, b]}\n      measures: {n: rows}\n"
        "      contributions: {groups: 1, rows: 1}\n"
    )
    (spec,) = policy.loads(text, {}).releases
    db.run(spec)


def labelled(db: Any, _: Path) -> None:
    with suppress(PolicyError):  # no column of the table has a label
        db.propose(table_of(db), from_labels=True)


def as_role(db: Any, _: Path) -> None:
    name = release_of(db)
    role = "reader" if db.engine.rights is None else str(db.engine.fetch("SELECT current_user")[0][0])
    db.query(f"SELECT count(*) AS n FROM {name}", role=role)


def of_parquet(db: Any, folder: Path) -> None:
    file = folder / f"{uuid.uuid4().hex}.parquet"
    duckdb.sql("SELECT i AS id, i % 4 AS age FROM range(8) AS r(i)").write_parquet(str(file))
    db.profile(f"parquet:{file}")


CALLS: Mapping[str, Callable[[Any, Path], object]] = {
    "publish_file": lambda db, folder: release_of(db, publish_file=str(folder / f"{uuid.uuid4().hex}.duckdb")),
    "refresh: {mode: frozen}": frozen,
    "tables": published_together,
    "statistics": counted,
    NOISY: noisy,
    "--compact": lambda db, _: db.compact(),
    LAKES: of_parquet,
    ELSEWHERE: lambda db, folder: release_of(db, publish_to=f"duckdb:///{folder / uuid.uuid4().hex}.duckdb"),
    TO_LAKES: lambda db, folder: release_of(db, publish=f"delta:{folder / uuid.uuid4().hex}"),
    "install-functions": lambda db, _: db.install_functions(),
    "query --as": as_role,
    "--from-labels": labelled,
}


def check_engine(db: Any, folder: Path) -> None:
    """Every feature of an engine is there, or is refused with the reason of its marker."""
    for feature, call in CALLS.items():
        lack = db.engine.lacks.get(feature)
        assert POWERS[feature](db.engine) == (lack is None), feature
        if lack is None:
            call(db, folder)
            continue
        with pytest.raises(UnsupportedError) as refused:
            call(db, folder)
        assert f"{feature}: {lack.why}" in str(refused.value)


@pytest.mark.every_engine
def test_engines_have_what_they_do_not_lack(db: Any, tmp_path: Path) -> None:
    check_engine(db, tmp_path)


def test_an_engine_without_transactions(tmp_path: Path) -> None:
    """What Spark lacks for this reason is refused by any engine that lacks it."""
    with duckdb.connect() as connection, Database(weakest(connection), SilentProgress(), Machine(1 << 28, 1)) as db:
        check_engine(db, tmp_path)


def test_every_ability_that_an_engine_may_lack_is_a_feature_or_has_another_way() -> None:
    optional = {
        name
        for name, value in vars(Engine).items()
        if isinstance(value, property) and "None" in str(inspect.signature(value.fget).return_annotation)  # type: ignore[arg-type]
    }
    optional |= {name for name, kind in inspect.get_annotations(Engine).items() if kind == "bool"}
    features = {"rights", "lake", "second_file", "compaction", "transactions", "updates", "ledger_engine", "transfer"}
    features |= {"lake_engine"}
    assert optional == features | set(ANOTHER_WAY)
    assert set(POWERS) == set(CALLS) == set(FEATURES)
    assert all(set(lacks) <= set(FEATURES) for lacks in LACKS.values())


# --- methods, formats, requirements
# ------------------------------------------------------------------------------------

OWN: Mapping[str, Mapping[str, Any]] = {"anatomy": {"l": 2, "k": 1}, "freeform": {"boxes": "own"}, "suppress": {"l": 2}}
"""What a method needs in any case."""
OPTIONS = {("fulldomain", ability): "fulldomain:search=global" for ability in ("population", "pushdown", "suppresses")}
"""Where an ability is that of one search."""


@pytest.mark.parametrize("ability", ABILITIES)
@pytest.mark.parametrize("method", [one.name for one in METHODS.own])
def test_a_method_takes_an_ability_or_refuses_it_with_the_reason(method: str, ability: str) -> None:
    declared = METHODS[method]
    assert lack_of(declared, ability) != UNDECLARED, "a method of the package has a reason of its own"
    check_ability(declared, ability, {**OWN.get(method, {}), "method": OPTIONS.get((method, ability), method)})


def taken(**asked: Any) -> None:
    given = {"source": "t", "quasi": ["q", "r"], "sensitive": "s", "k": 2, **asked}
    release(**{name: value for name, value in given.items() if value is not None})


FORMATS_ASKED: Mapping[str, Mapping[str, Any]] = {
    "means": {"mean": "q", "k": 5},
    "reach": {"k": None, "maximize": "l", "max_loss": 0.5, "at_least": {"l": 2}},
    "hides": {"method": "fulldomain:search=global", **ABILITIES["suppresses"]},
    "cells": {"method": "fulldomain:search=global", **POPULATION},
}


@pytest.mark.parametrize("ability", FORMATS_ASKED)
@pytest.mark.parametrize("form", [one.name for one in FORMATS.own])
def test_a_format_takes_an_ability_or_refuses_it_with_the_reason(form: str, ability: str) -> None:
    lack = getattr(FORMATS[form], ability)
    asked = {**FORMATS_ASKED[ability], "format": form}
    if FORMATS[form].exact and ability != "reach":
        asked |= {"k": None, "l": 2}
    if lack is True:
        taken(**asked)
        return
    assert lack != UNDECLARED
    with pytest.raises(PolicyError) as refused:
        taken(**asked)
    assert lack.why in str(refused.value)


VALUES: Mapping[str, Any] = {
    "k": 2,
    "l": 2,
    "distinct_l": 2,
    "entropy_l": 2,
    "recursive_cl": {"c": 3, "l": 2},
    "alpha": "1/2",
    "t": "1/2",
    "beta": {"basic": 1},
    "delta_disclosure": 2,
    "k_map": {"k": 2, "population": "register"},
    "delta_presence": {"max": "1/2", "population": "register"},
}


@pytest.mark.parametrize("name", [one.name for one in REQUIREMENTS.own])
def test_a_requirement_is_joint_and_counted_by_all_methods_or_refused_with_the_reason(name: str) -> None:
    declared = REQUIREMENTS[name]
    for lack, asked in (
        (declared.joint, {"joint": True, "sensitive": ["s", "u"]}),
        (declared.tally, {"method": "tree"}),
    ):
        if lack is True:
            taken(**{name: VALUES[name], **asked})
            continue
        assert lack != UNDECLARED
        with pytest.raises(PolicyError) as refused:
            taken(**{name: VALUES[name], **asked})
        assert lack.why in str(refused.value)
