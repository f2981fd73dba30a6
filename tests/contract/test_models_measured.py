"""Tallies of kernels, groups in SQL and the queries of verification: each counts what the definition of a requirement counts."""

from __future__ import annotations

import random
import uuid
from typing import Any

import numpy as np
import pytest

from sqlanon.kernels.requirements import allowed_slots, demands_of, new_counters, satisfied
from sqlanon.privacy.base import Coded, Grouped, Values
from sqlanon.table.scratch import Scratch
from tests.contract.value_models import (
    MODELS,
    Model,
    spec_of,
)
from tests.covering import seeds
from tests.engines import create_table


@pytest.mark.parametrize("seed", seeds(40, always=4))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_the_tally_is_the_definition(model: Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    known = sorted({int(v) for v in rng.integers(1, 5, n)})
    codes = rng.integers(0, len(known), n).astype(np.int32)
    codes[: len(known)] = np.arange(len(known))[:n]
    known = known[: int(codes.max()) + 1]
    (one,) = spec_of(model)
    whole = np.bincount(codes).astype(np.int64)
    values = Values([str(v) for v in known], range(len(known)), ordered=True)
    demands = demands_of(1, [one.tally(Coded(n, [codes], [len(known)], [whole], values=[values]))])
    counters, rows = new_counters(demands, n), np.arange(n, dtype=np.int32)
    order = (np.argsort(codes, kind="stable") if seed % 2 else rng.permutation(n)).astype(np.int64)
    ends = np.unique(np.append(rng.integers(1, n + 1, 4), n)).astype(np.int64)
    allowed = np.zeros(len(ends), np.bool_)
    everything = [known[code] for code in codes]

    def meets(positions: Any) -> bool:
        return model.meets([everything[at] for at in positions], everything)

    allowed_slots(demands, rows, order, ends, len(ends), counters, allowed)
    assert [bool(a) for a in allowed[:-1]] == [meets(order[:e]) and meets(order[e:]) for e in ends[:-1]]
    assert satisfied(demands, rows, order, counters) == meets(order)
    assert not counters.counts.any()


@pytest.mark.cover("model")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_groups_in_sql_and_the_measured_table_are_the_definition(shared_db: Any, model: Model) -> None:
    """Random classes; what SQL finds below, what verification measures and the definition agree."""
    rng = random.Random(5)
    # Class 0 has each value as often as the table nearly has, class 1 one value: it meets none of the models.
    rows = [(rng.randrange(2, 14), rng.choices([1, 2, 3, 4], [4, 3, 3, 2])[0]) for _ in range(150)]
    rows += [(0, value) for value in (1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4)] + [(1, 4)] * 4
    name = f"classes_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, {"class": "INTEGER", "s": "INTEGER"}, rows)
    everything = [value for _, value in rows]
    wanted = {group for group in range(14) if not model.meets([v for g, v in rows if g == group], everything)}
    (one,) = spec_of(model)
    known = sorted(set(everything))
    with Scratch(shared_db.engine) as scratch:
        coded, below = scratch.table("coded"), scratch.table("below")
        columns = {
            "class": np.array([g for g, _ in rows], np.int32),
            "s": np.array([known.index(v) for _, v in rows], np.int32),
        }
        shared_db.engine.load_arrays(coded, columns)
        counts = [np.bincount(columns["s"]).astype(np.int64)]
        values = [Values([str(v) for v in known], range(len(known)), ordered=True)]
        one.below(scratch, below, Grouped(coded, ("class",), ("s",), None, coded, ("s",), (), counts, values))
        found = shared_db.engine.fetch(f'SELECT class FROM "{below.name}"')
        assert {int(str(row[0])) for row in found} == wanted
        scratch.drop(below)
        # As histories ask, which keep hashes: whatever fails is found, perhaps more.
        one.below(scratch, below, Grouped(coded, ("class",), ("s",), None, coded, ("s",)))
        unknown = shared_db.engine.fetch(f'SELECT class FROM "{below.name}"')
        assert {int(str(row[0])) for row in unknown} >= wanted
    target = shared_db.engine.relation(name).ref
    assert one.measure(shared_db.engine, Grouped(target, ("class",), ("s",))).failing == len(wanted)
    assert 0 < len(wanted) < 14
