"""Readers of lineages of events, where several rows are one person's.

The promises are those of docs/persons.md and docs/frozen.md.

All have all versions. `of_all_rows` knows all quasi values, and when every row came, went and changed. `of_owners`
knows also whose each row is. `of_one_event` knows it of one event of the victim, and sees which records of a class are
one person's, which no release shows. `of_all_events` knows all events of the victim, and sees which records of the
lineage are one person's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import Any, NamedTuple

from tests.frozen.known import Known, Shown
from tests.frozen.model import Cell, Key, Lineage, Member, Partition, Value
from tests.frozen.readers import Posterior, counted, greatest
from tests.frozen.worlds import chains, changed, placements, valued

Owner = Callable[[Key], Any]
"""Whose row a key is."""


class Asked(NamedTuple):
    """What a class must meet over its rows and over its persons."""

    k: int = 2
    l: int = 2  # noqa: E741 - the papers' symbol
    share: Fraction = Fraction(1)
    """No person has more than this part of the rows."""


def meets(rows: Collection[tuple[Any, Value]], asked: Asked) -> bool:
    """Whether rows, each an owner and a value, may be a class with `persons: rows`: the table of docs/persons.md."""
    own: dict[Any, list[Value]] = defaultdict(list)
    for who, value in rows:
        own[who].append(value)
    weight: Counter[Value] = Counter()
    for values in own.values():
        for value in values:
            weight[value] += Fraction(1, len(values))
    frequent = max(Counter(value for _, value in rows).values(), default=0)
    return (
        len(own) >= asked.k
        and frequent * asked.l <= len(rows)
        and max(weight.values()) * asked.l <= len(own)
        and max(map(len, own.values())) <= asked.share * len(rows)
    )


def divided(asked: Asked, owner: Owner, *, whole: bool, fine: bool) -> Partition:
    """Rows in the order of their quasi values, closed to classes as soon as they are lawful.

    If ``fine`` is false, all are one class.

    Rows of a person stay together where that is promised, and classes that publish the same are one.
    """

    def lawful(members: Sequence[Member]) -> bool:
        return meets([(owner(member.key), member.value) for member in members], asked)

    def partition(rows: Sequence[Member]) -> list[list[Key]] | None:
        units: dict[Any, list[Member]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: (row.quasi, repr(row.key))):
            units[owner(row.key) if whole else row.key].append(row)
        classes: list[list[Member]] = [[]]
        for unit in units.values() if fine else [list(rows)]:
            classes[-1] += unit
            if fine and lawful(classes[-1]):
                classes.append([])
        while len(classes) > 1 and not (classes[-1] and lawful(classes[-1])):
            rest = classes.pop()
            classes[-1] += rest
        boxes: dict[Any, list[Member]] = defaultdict(list)
        for members in classes:
            columns = zip(*(row.quasi for row in members), strict=True)
            boxes[tuple((min(column), max(column)) for column in columns)] += members
        found = list(boxes.values())
        if not rows or not all(map(lawful, found)):
            found = [list(rows)]
        return [[row.key for row in members] for members in found] if rows and lawful(found[0]) else None

    return partition


class Whole(Lineage):
    """A lineage in which rows of a person who was published before they came wait for a new one."""

    owner: Owner

    def _later(self, key: Key) -> bool:
        """The person is published, or was."""
        return any(self.owner(other) == self.owner(key) for version in self.versions for other in version.cells)


def lineage(asked: Asked, rows: int, owner: Owner, *, whole: bool, waits: bool, fine: bool) -> Lineage:
    """A lineage of events that tries a cohort of so many rows, or after two versions.

    Args:
        asked: what classes meet.
        rows: of a cohort.
        owner: whose each row is.
        whole: the rows of a person in a cohort are in one class.
        waits: later rows of published persons wait, as `whole` promises.
        fine: the method divides a cohort.
    """
    made = (Whole if waits else Lineage)(asked.k, asked.l, rows, 2, divided(asked, owner, whole=whole, fine=fine))
    if isinstance(made, Whole):
        made.owner = owner
    return made


def of_all_rows(facts: Known, domain: Sequence[Value], asked: Asked, persons: int) -> Posterior:
    """The reader of the theorem: to him every row may be anybody's, of so many persons, if classes are lawful."""

    @cache
    def owned(values: tuple[Value, ...]) -> int:
        owners = product(range(persons), repeat=len(values))
        return sum(meets(list(zip(own, values, strict=True)), asked) for own in owners)

    def judge(keys: Sequence[Key], values: Mapping[Key, Value]) -> int:
        return owned(tuple(sorted(values[key] for key in keys)))

    found = counted(facts, domain, asked.k, judge)
    return greatest(found.link, found.value, facts.seen, found.all)


class OfOwners(NamedTuple):
    """What the reader concludes who knows whose every row is.

    ``link``: by version, record and person the probability that such a record is the person's; ``value``: by row and
    value that the row had it when it was published.
    """

    link: Mapping[tuple[int, Any, Any], Fraction]
    value: Mapping[tuple[Any, Value], Fraction]


def of_owners(facts: Known, domain: Sequence[Value], owner: Owner, asked: Asked) -> OfOwners:
    """The reader who knows whose every row is, over all sources that show what was shown."""

    def judge(keys: Sequence[Key], values: Mapping[Key, Value]) -> int:
        return meets([(owner(key), values[key]) for key in keys], asked)

    found = counted(facts, domain, asked.k, judge)
    link: dict[tuple[int, Any, Any], Fraction] = defaultdict(Fraction)
    for (t, record, key), n in found.link.items():
        link[t, record, owner(key)] += Fraction(n, found.all * facts.seen[t][record])
    return OfOwners(link, {state: Fraction(n, found.all) for state, n in found.value.items()})


def of_one_class(values: Mapping[Key, Value], owner: Owner, asked: Asked) -> dict[tuple[Any, Value], Fraction]:
    """The same for one class of one version.

    By person and value it has the probability that a record of this value is the person's.

    Every way to give its values to its rows is as likely as any other, if it is lawful.
    """
    keys, n = list(values), Counter(values.values())
    ways = [
        way
        for way in set(permutations(values.values()))
        if meets([(owner(key), value) for key, value in zip(keys, way, strict=True)], asked)
    ]
    found: dict[tuple[Any, Value], Fraction] = defaultdict(Fraction)
    for way in ways:
        for key, value in zip(keys, way, strict=True):
            found[owner(key), value] += Fraction(1, len(ways) * n[value])
    return found


class OfEvent(NamedTuple):
    """The greatest probabilities, over all rows taken as the known event.

    They are that the victim is a person, and that the event had a value.
    """

    person: Fraction
    value: Fraction
    worlds: int


def labelled(shown: Sequence[Shown], owner: Owner) -> list[dict[Key, Cell]]:
    """The versions, in which the value of a record shows which records of its class are one person's."""
    labels: dict[Any, int] = {}
    first: dict[Key, int] = {}
    found = []
    for t, night in enumerate(shown):
        cells = {}
        for key, cell in night.items():
            of = first.setdefault(key, t), cell.box, cell.number, owner(key)
            cells[key] = cell._replace(value=(cell.value, labels.setdefault(of, len(labels))))
        found.append(cells)
    return found


def of_one_event(facts: Known, domain: Sequence[Value], k: int) -> OfEvent:
    """The reader who knows one event of the victim, and everybody's events without their names.

    Names are given to the persons of a class in every way, and an event of each is drawn: each person of the event's
    class is as likely as any other, and each of the person's records there.

    Args:
        facts: as `known` says, of versions that are `labelled`.
        domain: the sensitive values.
        k: least number of rows of a class.
    """
    persons: dict[Key, Counter[Any]] = defaultdict(Counter)
    values_of: dict[Key, Counter[Value]] = defaultdict(Counter)
    lengths = Counter(who for who, _ in {state for night in facts.state for state in night.values()})
    worlds = 0
    for placed in placements(facts, k, True):
        for records in valued(placed, facts):
            sizes: dict[Any, Counter[int]] = defaultdict(Counter)
            for key, spell in placed.items():
                sizes[spell.first, spell.mark][records[key][1]] += 1
            found = _sources(placed, records, lengths, domain, facts)
            worlds += found
            for key, spell in placed.items():
                value, label = records[key]
                of = sizes[spell.first, spell.mark]
                likely = Fraction(found, len(of) * of[label])
                persons[key][label] += likely
                values_of[key][value] += likely
    return OfEvent(_most(persons.values()), _most(values_of.values()), worlds)


def _sources(
    placed: Mapping[Key, Any],
    records: Mapping[Key, tuple[Value, int]],
    lengths: Mapping[Any, int],
    domain: Sequence[Value],
    facts: Known,
) -> int:
    """How many sources have these values at their entry and the right number of rows that differ from their records."""
    values = {key: value for key, (value, _) in records.items()}
    lists = [
        chains(lengths[key], domain, {facts.state[spell.first][key][1]: values[key]}) for key, spell in placed.items()
    ]
    ways = (dict(zip(placed, combination, strict=True)) for combination in product(*lists))
    return sum(changed(placed, values, had, facts) == facts.stale for had in ways)


def _most(found: Iterable[Counter[Any]]) -> Fraction:
    """The greatest share of any of them."""
    return max((max(each.values()) / sum(each.values()) for each in found if each), default=Fraction(0))


def of_all_events(shown: Sequence[Shown], owner: Owner) -> Fraction:
    """The greatest probability of a person to the reader who knows the class of every published event of the victim.

    Names are given to the persons in every way; those are possible in which the person who is called as the victim has
    a record in every class that an event of the victim is in.
    """
    classes: dict[Any, set[int]] = defaultdict(set)
    for night in shown:
        for key, cell in night.items():
            classes[owner(key)].add(cell.number)
    names = sorted(classes, key=repr)
    ways = list(permutations(range(len(names))))
    found = []
    for victim, name in enumerate(names):
        found.append(Counter(way[victim] for way in ways if classes[name] <= classes[names[way[victim]]]))
    return _most(map(_fractions, found))


def _fractions(counts: Counter[int]) -> Counter[Any]:
    return Counter({one: Fraction(n) for one, n in counts.items()})
