"""Lineages of events against readers of all versions: what a person who has r rows in a class of n rows is promised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.frozen.histories import History, drawn, published, quiet, versions
from tests.frozen.known import Known, Shown, known
from tests.frozen.model import Key, Row, Value
from tests.frozen.owners import (
    Asked,
    Owner,
    labelled,
    lineage,
    meets,
    of_all_events,
    of_all_rows,
    of_one_class,
    of_one_event,
    of_owners,
)

HALF = Fraction(1, 2)


def nights(seeds: int, persons: int = 4) -> Iterator[tuple[int, int, History, Owner]]:
    """Histories of at most seven rows, three versions and few persons, and whose each row is."""
    for seed in range(seeds):
        rng, values = np.random.default_rng(seed), 2 + seed % 2
        history = drawn(rng, values, erasures=seed % 3 == 0)
        owners = {f"r{i}": int(rng.integers(persons)) for i in range(7)}
        yield seed, values, history, owners.__getitem__


def classes(shown: Sequence[Shown]) -> dict[int, dict[Key, Value]]:
    """The keys of each class, and their published values."""
    found: dict[int, dict[Key, Value]] = defaultdict(dict)
    for night in shown:
        for key, cell in night.items():
            found[cell.number][key] = cell.value
    return found


def facts_of(
    asked: Asked, persons: int = 4, *, whole: bool = False
) -> Iterator[tuple[Known, range, Owner, tuple[int, History]]]:
    """What readers know of the histories that publish anything, and the values.

    With and without the numbers of classes and the rows of cohorts.
    """
    for seed, values, history, owner in nights(96, persons):
        made = lineage(asked, 2 + seed // 2 % 2, owner, whole=whole, waits=whole, fine=True)
        if shown := published(made, history):
            numbers, cohorts = seed // 4 % 2 == 1, seed // 8 % 4 > 0
            facts = known(history.sources, shown, numbers=numbers, cohorts=cohorts, erased=history.erased)
            yield facts, range(values), owner, (seed, history)


def test_who_knows_all_rows_but_not_whose_they_are() -> None:
    """The theorem holds over rows: no row has a record with more than 1 / k, or a value with more than 1 / l."""
    asked, tried = Asked(), 0
    for facts, values, _, of in facts_of(asked, persons=3):
        tried += 1
        found = of_all_rows(facts, values, asked, 3)
        assert found.worlds > 0
        assert max(found.link, found.value) <= HALF, of
    assert tried > 25


@pytest.mark.parametrize("whole", [False, True], ids=["rows", "whole"])
@pytest.mark.parametrize("share", [Fraction(1), HALF], ids=["any share", "share"])
def test_who_knows_whose_every_row_is(whole: bool, share: Fraction) -> None:
    """A record of n that look alike is a person's with at most (n - k + 1) / n with k alone, and `person_share`.

    The class does not matter.
    """
    asked, tried = Asked(l=1, share=share), 0
    for facts, values, owner, of in facts_of(asked, whole=whole):
        tried += 1
        found = of_owners(facts, values, owner, asked).link
        for (t, (mark, _), who), likely in found.items():
            alike = sum(n for (other, _), n in facts.seen[t].items() if other == mark)
            assert likely <= min(share, Fraction(alike - asked.k + 1, alike)), (who, of)
    assert tried > 25


@pytest.mark.parametrize("whole", [False, True], ids=["rows", "whole"])
@pytest.mark.parametrize("l", [1, 2])
def test_all_versions_say_no_more_than_the_class_does(l: int, whole: bool) -> None:  # noqa: E741
    """To who knows whose every row is, and which class: r of n with k alone.

    With l over persons he can exclude what fails it, of one version as of all.
    """
    asked, several, sure = Asked(l=l), 0, 0
    for seed, values, history, owner in nights(96):
        made = lineage(asked, 2, owner, whole=whole, waits=whole, fine=False)
        shown = published(made, history)
        if not shown:
            continue
        facts = known(history.sources, shown, numbers=True, erased=history.erased)
        found = of_owners(facts, range(values), owner, asked).link
        alone = {number: of_one_class(of, owner, asked) for number, of in classes(shown).items()}
        for (_, ((_, number), value), who), likely in found.items():
            of = [owner(key) for key in classes(shown)[number]]
            assert likely == alone[number][who, value], (seed, history)
            assert l > 1 or likely == Fraction(of.count(who), len(of))
            several += likely > HALF
            sure += likely != Fraction(of.count(who), len(of))
    assert several > 20  # more than 1 / k: what `person_share` bounds, and k does not
    assert (sure > 0) is (l > 1)


@pytest.mark.parametrize("fine", [False, True], ids=["one class", "classes"])
def test_who_is_known_by_one_event_is_one_of_k_persons(fine: bool) -> None:
    """Also to who sees which records of a class are one person's, in all versions.

    And the event has no value with more than 1 / l.
    """
    asked, tried, several = Asked(), 0, 0
    for seed, values, history, owner in nights(120):
        made = lineage(asked, 2 + seed // 2 % 2, owner, whole=False, waits=False, fine=fine)
        shown = published(made, history)
        if not shown:
            continue
        tried += 1
        several += any(len(set(map(owner, keys))) < len(keys) for keys in classes(shown).values())
        cohorts = seed // 8 % 2 > 0
        facts = known(history.sources, shown, numbers=True, cohorts=cohorts, erased=history.erased)
        marked = known(history.sources, labelled(shown, owner), numbers=True, cohorts=cohorts)
        found = of_one_event(replace(facts, seen=marked.seen), range(values), asked.k)
        assert found.worlds > 0
        assert max(found.person, found.value) <= HALF, (seed, history)
    assert min(tried, several) > 20


def test_who_is_known_by_all_events_waits() -> None:
    """With `whole` one of k persons is left; were later rows of published persons published, fewer would be."""
    found: dict[bool, list[Fraction]] = {True: [], False: []}
    for seed, _, history, owner in nights(150):
        for waits, each in found.items():
            made = lineage(Asked(), 2 + seed // 2 % 2, owner, whole=True, waits=waits, fine=True)
            shown = published(made, history)
            each.append(of_all_events(shown, owner) if shown else Fraction(0))
    assert {waits: max(each) for waits, each in found.items()} == {True: HALF, False: Fraction(1)}


def test_later_rows_of_a_published_person_wait_also_where_its_class_left() -> None:
    """{a1, b1} leaves.

    a2 comes with c1: to publish them would show a in two classes, of which b has one and c the other.
    """
    owner: Owner = lambda key: str(key)[0]  # noqa: E731
    first, later = {"a1": Row((0,), 0), "b1": Row((1,), 1)}, {"a2": Row((0,), 0), "c1": Row((1,), 1)}
    history = quiet([first, {}, later])
    for waits, entered, most in ((False, {"a2", "c1"}, 1), (True, set(), HALF)):
        made = lineage(Asked(), 2, owner, whole=True, waits=waits, fine=True)
        found = versions(made, history)
        assert found[2] is not None
        assert set(found[2].cells) == entered
        assert of_all_events([version.cells for version in found if version], owner) == most


def test_equal_cells_of_several_cohorts_meet_k_and_l_over_rows_and_each_class_meets_l_over_persons() -> None:
    """Who does not know when the event came counts a person of both classes once; docs/frozen.md says so."""
    asked, owner = Asked(), {"p1": "p", "q": "q", "p2": "p", "r": "r"}
    first, later = [("p1", 0), ("q", 1)], [("p2", 0), ("r", 1)]
    each = [[(owner[key], value) for key, value in rows] for rows in (first, later)]
    assert all(meets(rows, asked) for rows in each)
    assert not meets([*each[0], *each[1]], asked)
    assert meets([*each[0], *each[1]], asked._replace(l=1))


def test_values_that_who_knows_whose_rows_are_whose_can_exclude() -> None:
    """The example of docs/persons.md: {b, c} would leave the two others with a."""
    values, owner = {"p1": "a", "p2": "b", "q": "a", "r": "c"}, {"p1": "p", "p2": "p", "q": "q", "r": "r"}
    found = of_one_class(values, owner.__getitem__, Asked())
    assert found["p", "a"] * 2 / 2 == Fraction(3, 5)  # two records of a, two rows of p
