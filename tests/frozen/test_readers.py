"""Readers of all versions: who does not know the method stays at 1/k and 1/l; each rule is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice

import numpy as np
import pytest

from tests.covering import seeds
from tests.frozen.histories import K, L, drawn, every, lineage, published, quiet, versions
from tests.frozen.known import Shown, Source, known
from tests.frozen.model import Cell, Key, Lineage, Partition, Row
from tests.frozen.partitions import by_order, dealt, optimal, whole
from tests.frozen.readers import Posterior, informed, outside, share
from tests.frozen.worlds import Spell, placements

HALF = Fraction(1, 2)
METHODS = {"whole": whole, "order": by_order, "optimal": optimal}


def remembered(partition: Partition) -> Partition:
    """The same, which computes each division once."""
    found = cache(partition)
    return lambda rows: found(tuple(rows))


def bounded(posterior: Posterior) -> bool:
    """Whether the promise is kept."""
    return posterior.worlds > 0 and posterior.link <= Fraction(1, K) and posterior.value <= Fraction(1, L)


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.thorough)])
def test_all_histories_of_three_rows(step):
    """By default every ninth."""
    tried = 0
    for history in islice(every("pqr", 2), 0, None, step):
        shown = published(lineage(whole(K, L)), history)
        if shown:
            tried += 1
            assert bounded(outside(known(history.sources, shown), range(2), K, L)), history
    if step == 1:
        assert tried == 3 * 27**2  # two of the three rows are there first, with values 0 and 1
    assert tried > 200


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("groups", [False, True], ids=["classes", "groups"])
@pytest.mark.parametrize("block", seeds(3))
def test_drawn_histories_of_seven_rows(method, groups, block):
    """Also where classes are divided into exit groups as the product divides them, by sensitive values."""
    for seed in range(100 * block, 100 * block + 100):
        values, rows = 2 + seed % 2, 2 + seed // 2 % 2
        numbers, cohorts, erasures = seed // 4 % 2 == 1, seed // 8 % 4 > 0, seed % 3 == 0
        history = drawn(np.random.default_rng(seed), values, erasures=erasures)
        made = lineage(METHODS[method](K, L), rows, dealt(K, L) if groups else None)
        shown = published(made, history)
        facts = known(history.sources, shown, numbers=numbers, cohorts=cohorts, erased=history.erased)
        assert bounded(outside(facts, range(values), K, L)), (seed, history)
        assert truth(shown, numbers=numbers) in list(placements(facts, K, True)), (seed, history)


def truth(shown: Sequence[Shown], *, numbers: bool) -> dict[Key, Spell]:
    """Which key is published in which versions and where."""
    nights: dict[Key, list[int]] = {}
    cells: dict[Key, Cell] = {}
    for t, night in enumerate(shown):
        for key, cell in night.items():
            nights.setdefault(key, []).append(t)
            cells[key] = cell
    return {
        key: Spell(min(at), max(at), (cells[key].box, cells[key].number if numbers else 0))
        for key, at in nights.items()
    }


# --- variants of the rules, each of which breaks the promise -----------------------------------------------

P, A, B, C = Row((0,), 0), Row((1,), 1), Row((3,), 2), Row((3,), 0)


def person(key: Key) -> str:
    """Whose row it is: p' is p, taken for a new row."""
    return str(key).removesuffix("'")


def kept(*nights: Source) -> bool:
    """Whether a lineage of these sources keeps the promise."""
    history = quiet(nights)
    return bounded(outside(known(history.sources, published(lineage(by_order(K, L)), history)), range(3), K, L))


def anew(*nights: Source) -> Posterior:
    """What the reader concludes where a lineage takes p for a new row, p', and publishes it again."""
    shown = published(lineage(by_order(K, L)), quiet(nights))
    return outside(known(nights, shown, person=person), range(3), K, L, person=person)


def loose(sources: Sequence[Source], shown: Sequence[Shown]) -> Posterior:
    """What the reader concludes where records join classes and leave them alone."""
    return outside(known(sources, shown, person=person), range(3), K, L, person=person, whole=False)


def cells(low: float, high: float, values: Mapping[Key, int]) -> dict[Key, Cell]:
    """The records of one class."""
    return {key: Cell(((low, high),), value, 0, 0) for key, value in values.items()}


@pytest.mark.parametrize(
    ("new", "other", "value"),
    [(Row((3,), 2), C, Fraction(2, 3)), (Row((3,), 0), B, Fraction(1))],
    ids=["another value", "another quasi value"],
)
def test_a_changed_row_is_published_again_in_another_class(new, other, value):
    """{p, a} have {0, 1}, {p', b} have {0, 2}: p had (0, 2), (1, 0) or (1, 2) if it changed, else (0, 0)."""
    assert kept({"p": P, "a": A}, {"p": new, "a": A, "b": other}, {"p": new, "b": other})
    assert anew({"p": P, "a": A}, {"p'": new, "a": A, "b": other}, {"p'": new, "b": other}).value == value


def test_a_returning_row_is_published_again_in_another_class():
    assert kept({"p": P, "a": A}, {"a": A}, {"p": P, "a": A, "b": B})
    assert anew({"p": P, "a": A}, {"a": A}, {"p'": P, "a": A, "b": B}).value == 1


def test_a_deleted_row_leaves_alone():
    """The class is lawful before and after."""
    sources = [{"p": P, "a": A, "b": B}, {"a": A, "b": B}]
    assert kept(*sources)
    assert loose(sources[:1], [cells(0, 3, {"p": 0, "a": 1, "b": 2})]).value == Fraction(1, 3)
    found = loose(sources, [cells(0, 3, {"p": 0, "a": 1, "b": 2}), cells(0, 3, {"a": 1, "b": 2})])
    assert found.link == found.value == 1


def test_a_row_moves_to_another_class():
    """With its value; both classes are lawful before and after."""
    others = {"a": A, "b": B, "c": Row((7,), 0), "d": Row((8,), 1)}
    before, after = Row((0,), 0), Row((8,), 0)
    assert kept({"p": before, **others}, {"p": after, **others})
    shown = [
        cells(0, 3, {"p": 0, "a": 1, "b": 2}) | cells(7, 8, {"c": 0, "d": 1}),
        cells(0, 3, {"a": 1, "b": 2}) | cells(7, 8, {"p'": 0, "c": 0, "d": 1}),
    ]
    found = loose([{"p": before, **others}, {"p'": after, **others}], shown)
    assert found.link == found.value == 1


def test_a_row_joins_a_class():
    sources = [{"p": P, "a": A}, {"p": P, "a": A, "b": A._replace(value=2)}]
    assert kept(*sources)
    found = loose(sources, [cells(0, 1, {"p": 0, "a": 1}), cells(0, 1, {"p": 0, "a": 1, "b": 2})])
    assert found.link == found.value == 1


def test_a_cell_changes_where_it_is():
    new = P._replace(value=2)
    assert kept({"p": P, "a": A}, {"p": new, "a": A})
    shown = [cells(0, 1, {"p": 0, "a": 1}), cells(0, 1, {"p'": 2, "a": 1})]
    assert loose([{"p": P, "a": A}, {"p'": new, "a": A}], shown).value == 1


# --- the reader who knows the method ------------------------------------------------------------------------


class Mixed(Lineage):
    """A cohort that cannot be published waits on, and is tried again with later rows."""

    def _refuse(self, key: Key) -> None:
        """It waits."""


def conclusions(
    sources: Sequence[Source], partition: Partition, kind: type[Lineage] = Lineage, *, failed: bool = False
) -> list[Posterior]:
    """What the reader who knows the method concludes from each thing that he can see."""
    method = remembered(partition)

    def publish(world: Sequence[Source]) -> list[Shown | None]:
        found = versions(kind(K, L, K, 2, method), quiet(world))
        return [None if version is None else version.cells for version in found]

    found = informed(sources, publish, range(3))
    return [posterior for seen, posterior in found.items() if failed or seen[0] is not None]


def greatest(posteriors: Sequence[Posterior]) -> Fraction:
    """The greatest posterior of a value."""
    return max(posterior.value for posterior in posteriors)


def test_a_refused_cohort_is_mixed_with_later_rows():
    """p and q were refused, so they are equal: one class of values 0, 0, 1, 2 shows which is theirs."""
    first = {"a": P, "b": A}
    sources = [first, {**first, "p": P, "q": P}, {**first, "p": P, "q": P, "r": P, "s": P}]
    assert greatest(conclusions(sources, whole(K, L))) == HALF
    assert greatest(conclusions(sources, whole(K, L), Mixed)) == 1


def test_a_first_version_that_fails_is_tried_again_with_later_rows():
    """The rules allow it, for nothing is kept of such a run: to who knows of it, cohorts were mixed."""
    sources = [{"p": P, "q": P}, {"p": P, "q": P, "r": P, "s": P}]
    assert greatest(conclusions(sources[1:], whole(K, L), failed=True)) == HALF
    assert greatest(conclusions(sources, whole(K, L), failed=True)) == 1


@pytest.mark.parametrize(
    "method", ["whole", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("order", "optimal"))]
)
def test_who_knows_the_method(method, record_property):
    """Where all rows of a cohort are one class, versions add nothing; otherwise what they add is recorded."""
    shares: dict[str, list[Fraction]] = {"versions": [], "first version": [], "all rows in one version": []}
    for seed in range(6):
        sources = drawn(np.random.default_rng(seed), 3, most=6).sources
        every_row = {**sources[0], **sources[1], **sources[2]}
        for name, nights in zip(shares, (sources, sources[:1], [every_row]), strict=True):
            found = conclusions(nights, METHODS[method](K, L))
            if found:
                shares[name].append(share(found, HALF))
                assert method != "whole" or greatest(found) <= HALF
    for name, each in shares.items():
        record_property(name, float(sum(each) / len(each)))
