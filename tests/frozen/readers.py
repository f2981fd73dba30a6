"""Brute-force readers of a lineage of few rows: what they can conclude who have all its versions.

Both know the quasi values of all rows, when every row was inserted, deleted and changed, whether a change
altered its sensitive value, and what each version shows: boxes with sensitive values, perhaps the numbers
of classes, and how many records are retained and stale. Neither knows a sensitive value. A *source* gives
every state of every row a sensitive value; all sources are as likely to the reader before he sees a
version.

`outside` does not know how the method divides rows: every source, together with every way in which classes
can hold the keys, is as likely as any other, if the rules of lineages make it show what was shown.
`informed` knows the method too. A variant of the rules that is not frozen may publish a row under several
keys: `Person` maps keys to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, NamedTuple

from tests.frozen.known import Known, Person, Shown, Source, State, itself, seen, states, view
from tests.frozen.model import Key, Row, Value, lawful
from tests.frozen.worlds import chains, changed, placements, valued


class Posterior(NamedTuple):
    """What a reader concludes.

    ``link`` is the greatest probability that a given published record is a given key's, ``value`` the
    greatest that a person had a given sensitive value at a given time, also one that was never published;
    ``worlds`` is how many sources, or sources with classes, were counted.
    """

    link: Fraction
    value: Fraction
    worlds: int


def greatest(
    link: Mapping[tuple[int, Any, Key], int], value: Mapping[Any, int], records: Sequence[Counter[Any]], worlds: int
) -> Posterior:
    """The posteriors from numbers of worlds: a record is one of all that look the same in its version."""
    links = (Fraction(n, worlds * records[t][record]) for (t, record, _), n in link.items())
    return Posterior(max(links, default=Fraction(0)), Fraction(max(value.values(), default=0), worlds), worlds)


Judge = Callable[[Sequence[Key], Mapping[Key, Value]], int]
"""In how many ways these keys may be a class, by the values of all; 0: they may not."""


class Worlds(NamedTuple):
    """Number of counted sources, with classes.

    It has all, and those in which a record is a key's, or a state has a value.
    """

    link: Counter[tuple[int, Any, Key]]
    value: Counter[tuple[State, Value]]
    all: int


def outside(
    facts: Known,
    domain: Sequence[Value],
    k: int,
    l: int,  # noqa: E741 - the papers' symbol
    *,
    person: Person = itself,
    whole: bool = True,
) -> Posterior:
    """The reader who knows the rules of lineages, that classes are lawful, and nothing of the method.

    Where two classes of a version have the same mark and leave together, he counts them as one; a class may
    have exit groups. Rows that are never published are equally likely to have any value, and are left out.

    Args:
        facts: What he knows and sees.
        domain: The sensitive values.
        k: Least number of rows of a class.
        l: No value is in more than one l-th of the rows of a class.
        person: Whose row a key is.
        whole: The rules are kept: classes are lawful and leave whole. False: records may join classes, and
            leave alone when their key is deleted; nothing is known of classes.
    """
    found = counted(
        facts, domain, k, lambda keys, values: lawful([values[key] for key in keys], k, l), person=person, whole=whole
    )
    return greatest(found.link, found.value, facts.seen, found.all)


def counted(
    facts: Known, domain: Sequence[Value], k: int, judge: Judge, *, person: Person = itself, whole: bool = True
) -> Worlds:
    """All sources, with every way in which classes can hold the keys, that show what was shown; see `outside`."""
    link: Counter[tuple[int, Any, Key]] = Counter()
    value: Counter[tuple[State, Value]] = Counter()
    worlds = 0
    lengths = Counter(who for who, _ in {state for night in facts.state for state in night.values()})
    for placed in placements(facts, k, whole):
        groups = [[key for key in placed if placed[key] == spell] for spell in set(placed.values())]
        people = sorted({person(key) for key in placed}, key=repr)
        for values in valued(placed, facts):
            ways = prod(judge(keys, values) for keys in groups) if whole else 1
            if not ways:
                continue
            fixed: dict[State, Value] = {}
            if any(
                fixed.setdefault(facts.state[spell.first][key], values[key]) != values[key]
                for key, spell in placed.items()
            ):
                continue
            given = [{i: v for (other, i), v in fixed.items() if other == who} for who in people]
            lists = [chains(lengths[who], domain, each) for who, each in zip(people, given, strict=True)]
            found = 0
            for combination in product(*lists):
                had = dict(zip(people, combination, strict=True))
                if changed(placed, values, had, facts) != facts.stale:
                    continue
                found += ways
                for who, chain in had.items():
                    for i, v in enumerate(chain):
                        value[(who, i), v] += ways
            worlds += found
            for key, spell in placed.items():
                for t in range(spell.first, spell.last + 1):
                    link[t, (spell.mark, values[key]), key] += found
    return Worlds(link, value, worlds)


Publish = Callable[[Sequence[Source]], Sequence[Shown | None]]
"""The versions of a history; None where a run failed."""


def informed(
    sources: Sequence[Source], publish: Publish, domain: Sequence[Value], *, person: Person = itself
) -> dict[Any, Posterior]:
    """The reader who knows the method too: he runs it on every source. He knows no value of ``sources``.

    Returns:
        What he concludes, by what he can have seen.
    """
    numbered = states(sources, person)
    lengths = Counter(who for who, _ in {state for night in numbered for state in night.values()})
    people = list(lengths)
    link: dict[Any, Counter[tuple[int, Any, Key]]] = defaultdict(Counter)
    value: dict[Any, Counter[tuple[State, Value]]] = defaultdict(Counter)
    records: dict[Any, list[Counter[Any]]] = {}
    worlds: Counter[Any] = Counter()
    for combination in product(*(chains(lengths[who], domain, {}) for who in people)):
        had = dict(zip(people, combination, strict=True))
        world = [
            {key: Row(row.quasi, had[numbered[t][key][0]][numbered[t][key][1]]) for key, row in source.items()}
            for t, source in enumerate(sources)
        ]
        shown = publish(world)
        found = view(world, shown)
        worlds[found] += 1
        records[found] = [seen(night or {}, numbers=False) for night in shown]
        for t, night in enumerate(shown):
            for key, cell in (night or {}).items():
                link[found][t, ((cell.box, 0), cell.value), key] += 1
        value[found].update(((who, i), v) for who, chain in had.items() for i, v in enumerate(chain))
    return {found: greatest(link[found], value[found], records[found], n) for found, n in worlds.items()}


def share(posteriors: Collection[Posterior], bound: Fraction) -> Fraction:
    """The share of sources in which the reader's greatest posterior of a value is above the bound."""
    above = sum(found.worlds for found in posteriors if found.value > bound)
    return Fraction(above, sum(found.worlds for found in posteriors))
