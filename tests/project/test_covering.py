"""The combinations of each run.

By default every value occurs, with those that the mark names; both runs together have every two values.
"""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from tests.covering import covering
from tests.engines import ENGINES


@pytest.mark.parametrize("seed", range(20))
def test_every_value_and_every_named_combination_occurs(seed):
    rng = random.Random(seed)
    sizes = [rng.randint(1, 4) for _ in range(4)]
    rows = [dict(zip("abcd", map(str, row), strict=True)) for row in product(*map(range, sizes))]
    rows = rng.sample(rows, rng.randint(1, len(rows)))
    chosen = [rows[i] for i in covering(rows, [["a", "b"]])]
    for names in ("a", "b", "c", "d", "ab"):
        assert {tuple(row[n] for n in names) for row in chosen} == {tuple(row[n] for n in names) for row in rows}
    assert len(chosen) == len({tuple(row.items()) for row in chosen})


def test_no_more_than_the_longest_parameter_where_all_combinations_are_there():
    """So a test over two engines is run as often as it has methods, by turns on each."""
    rows = [{"engine": e, "method": m} for e, m in product("de", "12345678")]
    chosen = [rows[i] for i in covering(rows)]
    assert len(chosen) == 8
    assert [row["engine"] for row in chosen].count("d") == 4


@pytest.mark.parametrize("seed", range(20))
def test_both_runs_together_have_every_two_values(seed):
    rng = random.Random(seed)
    sizes = [rng.randint(1, 4) for _ in range(4)]
    rows = [dict(zip("abcd", map(str, row), strict=True)) for row in product(*map(range, sizes))]
    rows = rng.sample(rows, rng.randint(1, len(rows)))
    first = covering(rows)
    second = covering(rows, [*combinations("abcd", 2)], first)
    assert not set(first) & set(second)
    chosen = [rows[i] for i in (*first, *second)]
    for names in combinations("abcd", 2):
        assert {tuple(row[n] for n in names) for row in chosen} == {tuple(row[n] for n in names) for row in rows}


@pytest.mark.parametrize("words", [(), ("--thorough",), ("::",)])
def test_the_two_runs_share_out_the_tests(words):
    """And a test that is asked for by name is run as a whole; one on several engines has one of them by default."""
    from types import SimpleNamespace

    from tests import conftest

    class Item:
        """What the hook reads of a pytest item."""

        def __init__(self, name, mark, params, place=0):
            self.nodeid, self.name = f"t.py::test_x[{name}]" if params else f"t.py::{name}", name
            self._marks = [getattr(pytest.mark, mark)] if mark else []
            self._marks = [m.mark for m in self._marks]
            if params:
                indices = dict.fromkeys(params, place)
                self.callspec = SimpleNamespace(params=params, indices=indices)

        def iter_markers(self):
            return iter(self._marks)

        def get_closest_marker(self, name):
            return next((m for m in self._marks if m.name == name), None)

    def run(words):
        covered = [Item("".join(p), "cover", dict(zip("pqr", p, strict=True))) for p in product("12", "12", "123")]
        engines = [
            # pytest's numbers of values go on from engine to engine
            Item(f"{engine.name}{value}{mark or ''}", mark, {"engine": engine, "p": value}, place)
            for place, (engine, value, mark) in enumerate(product(ENGINES, range(20), (None, "every_engine")))
        ]
        items = [*covered, *engines, Item("plain", None, {}), Item("long", "thorough", {})]
        config = SimpleNamespace(
            args=["t.py::test_x"] if words == ("::",) else ["t.py"],
            getoption=lambda name: name == "--thorough" and words == ("--thorough",),
            stash={},
            hook=SimpleNamespace(pytest_deselected=lambda **_: None),
        )
        conftest.pytest_collection_modifyitems(config, items)
        return {item.name for item in items}

    names = run(words)
    assert ("plain" in names) == (words != ("--thorough",))
    assert ("long" in names) == (words != ())
    everywhere = {f"{engine.name}{value}every_engine" for engine, value in product(ENGINES, range(20))}
    assert (everywhere & names) == (everywhere if words != ("--thorough",) else set())
    single = {value: {f"{engine.name}{value}" for engine in ENGINES} for value in range(20)}
    share = {(): 1, ("--thorough",): len(ENGINES) - 1, ("::",): len(ENGINES)}[words]
    assert {len(same & names) for same in single.values()} == {share}
    by_default = {name[: -len(str(value))] for value, same in single.items() for name in same & names}
    assert by_default == {engine.name for engine in ENGINES}, "the choice differs from test to test"
    chosen = names - {"plain", "long"} - everywhere - set().union(*single.values())
    if words == ():
        assert len(chosen) == 3
        assert [{name[place] for name in chosen} for place in range(3)] == [set("12"), set("12"), set("123")]
    elif words == ("--thorough",):
        default = {name for name in run(()) if set(name) <= set("123")}
        assert not any(same & names & run(()) for same in single.values())
        assert not chosen & default
        assert all(
            any(name[a] == x and name[b] == y for name in chosen | default)
            for a, b in combinations(range(3), 2)
            for x, y in product("123" if a == 2 else "12", "123" if b == 2 else "12")
        )
        assert len(chosen | default) < 12
    else:
        assert len(chosen) == 12
