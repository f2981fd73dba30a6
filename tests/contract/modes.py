"""Every combination of the modes of a release that a policy admits, and what plan and run say of each."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlanon import policy
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.spec import ReleaseSpec

COLUMNS = {"id": "INTEGER", "pid": "INTEGER", "age": "INTEGER", "zip": "INTEGER", "ill": "TEXT"}
ROWS = [(n, n // 2, n % 8, (n * 7) % 5, "abc"[n % 3]) for n in range(48)]
Keys = dict[str, Any]
WHO: Mapping[str, Keys] = {
    "rows": {},
    "persons by rows": {"person": "pid", "persons": "rows"},
    "persons whole": {"person": "pid", "persons": "whole"},
    "tokens": {"person": "pid", "persons": "whole", "pid": "pseudonym"},
}
CONTENT: Mapping[str, Keys] = {
    "ranges": {},
    "points": {"format": "points"},
    "suppressed": {"method": "suppress", "format": "suppressed"},
    "anatomy": {"method": "anatomy", "format": "anatomy", "privacy": {"l": 2}},
    "own boxes": {"method": "freeform", "privacy": {"k": 2, "boxes": "own"}},
    "levels": {"method": {"name": "fulldomain", "search": "global"}, "hierarchy": True},
}
ASKED: Mapping[str, Keys] = {
    "k": {},
    "l and t": {"more": {"l": 2, "t": 0.9}},
    "population": {"more": {"k_map": {"k": 2, "population": "$people"}}},
}
LEFT: Mapping[str, Keys] = {"all rows": {}, "left out": {"suppression": {"limit": 1, "rows": "left_out"}}}
EFFORT: Mapping[str, Keys] = {"fast": {}, "refined": {"refine": True}}
HISTORY: Mapping[str, Keys] = {
    "no key": {},
    "key": {"key": ["id"], "history": {"max_failing": 48}},
    "frozen": {"key": ["id"], "refresh": {"mode": "frozen", "cohort": {"rows": 4}}},
}
PLACE: Mapping[str, Keys] = {"view": {}, "file": {"publish_file": "$file"}, "lake": {"publish": "$lake"}}
AXES = (WHO, CONTENT, ASKED, LEFT, EFFORT, HISTORY, PLACE)


def combine(table: str, folder: Path) -> Iterator[tuple[str, ReleaseSpec]]:
    """The combinations that the policy admits, each with its name: releases of rows of one table."""
    for names in itertools.product(*AXES):
        with suppress(PolicyError):
            yield ", ".join(names), make_spec(names, table, folder)


def make_spec(names: tuple[str, ...], table: str, folder: Path) -> ReleaseSpec:
    """The release of a combination.

    Raises:
        PolicyError: the policy does not admit it.
    """
    keys: Keys = {"name": table, "source": table, "publish": f"release.{table}", "privacy": {"k": 2}}
    for axis, name in zip(AXES, names, strict=True):
        keys |= axis[name]
    keys["privacy"] = {**keys["privacy"], **keys.pop("more", {})}
    if "k_map" in keys["privacy"]:
        keys["privacy"]["k_map"] = {"k": 2, "population": f"{table}_people"}
    if "publish_file" in keys:
        keys["publish_file"] = str(folder / f"{table}.duckdb")
    if keys["publish"] == "$lake":
        keys["publish"] = f"delta:{folder / table}"
    identifier: Keys = {"role": "identifier"}
    repeated = identifier if "person" in keys else {**identifier, "accept_repeats": True}
    steps = keys.pop("hierarchy", False)
    unique: Keys = {} if "l" in keys["privacy"] else {"accept_unique": True}
    keys["columns"] = {
        "id": identifier,
        "pid": keys.pop("pid", repeated),
        "age": {"role": "quasi", "hierarchy": "steps:2,4,8"} if steps else "quasi",
        "zip": {"role": "quasi", "hierarchy": "steps:5"} if steps else "quasi",
        "ill": {"role": "sensitive", **unique},
    }
    (spec,) = policy.loads(json.dumps({"version": 1, "releases": [keys]}), {}).releases
    return spec


@contextmanager
def logged() -> Iterator[list[str]]:
    """The stages that are carried out meanwhile."""
    found: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    log, handler = logging.getLogger("sqlanon.stages"), Keeping()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield found
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def agree(db: Any, spec: ReleaseSpec) -> tuple[list[str], Any]:
    """The stages that a plan announced, and the report of the run, None where it failed.

    A run does what was announced and nothing else. It may fail in one of these stages, and fails where the plan does.
    """
    planned, refused = attempt(lambda: db.plan(spec))
    with logged() as done:
        made, failed = attempt(lambda: db.run(spec))
    if planned is None:
        assert (type(failed), str(failed)) == (type(refused), str(refused))
        return [], None
    announced = list(planned.stages)
    assert done == announced[: len(done)]
    assert made is None or len(done) == len(announced)
    return announced, made


def attempt(call: Callable[[], Any]) -> tuple[Any, SqlanonError | None]:
    """The result of a call, or the error."""
    try:
        return call(), None
    except SqlanonError as error:
        return None, error
