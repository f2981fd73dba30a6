"""Releases that are made on Spark and on DuckDB to compare them.

Every registered requirement, format and type is in one of them.

A release on Spark is some 150 statements, one after the other, so that requirements, formats and types are dealt out
over few releases. Which classes each method makes is compared without a release.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import cycle, islice, product
from typing import Any

from sqlanon import policy
from sqlanon.declared import FORMATS, METHODS, REQUIREMENTS
from sqlanon.errors import PolicyError
from tests.contract.value_models import MODELS
from tests.spark.tables import ODD, QUASI, arrow

ALWAYS = ("anatomy", "fulldomain", "freeform", "best")
"""Methods whose releases differ in more than their classes.

Two views, one rule for all rows, boxes of their own, sets of values.
"""
ROWS = 120
LINES = (*QUASI, ODD)
"""Columns of every type, and one whose name has every quote."""
PLACES = {"portugal": ["lisbon", "porto"], "norway": ["oslo", "bergen"], "italy": ["rome", "nowhere"]}
ILL = {"low": ["1", "2"], "high": ["3", "4"]}
PEOPLE = "kinds_twice"
"""The table of the population, which has each row twice."""


@dataclass(frozen=True)
class Deal:
    """A release.

    Attributes:
        method: its name and options.
        asked: requirements and their values, of column ``ill``.
        more: what else the policy has.
        lines: quasi columns besides ``place``.
    """

    method: Mapping[str, str]
    asked: Mapping[str, Any] = field(default_factory=lambda: {"k": 3})
    format: str = "ranges"
    more: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ("m",)

    @property
    def parts(self) -> set[str]:
        """What of it is to occur somewhere."""
        more = [str(one) for one in self.more.items() if one[0] not in REQUIREMENTS]
        return {*map(str, self.asked.items()), self.format, *(more or ["nothing more"])}

    @property
    def arguments(self) -> dict[str, Any]:
        """Of `Database.anonymize`."""
        hierarchies = {"place": {"groups": PLACES}}
        if "hierarchical" in str(self.asked):
            hierarchies["ill"] = {"groups": ILL}
        exact = FORMATS[self.format].exact or any(REQUIREMENTS[name].population for name in self.asked)
        own = {"boxes": "own"} if METHODS[self.method["name"]].own_boxes else {}
        return {
            "quasi": ["place", *self.lines],
            "sensitive": "ill",
            "identifiers": "name",
            "rest": "drop",
            "hierarchies": hierarchies,
            "method": dict(self.method),
            "execution": METHODS[self.method["name"]].executions[0],
            "format": self.format,
            "seed": 5,
            **({} if exact else {"k": 2}),
            **own,
            **self.more,
            **self.asked,
        }

    @property
    def accepted(self) -> bool:
        """Whether a policy may have it."""
        try:
            policy.release(source="typed", **self.arguments)
        except PolicyError:
            return False
        return True


MORE: tuple[Mapping[str, Any], ...] = (
    {},
    {"suppression": {"limit": "1/5", "rows": "left_out"}},
    {"suppression": {"limit": "1/5", "rows": "starred"}},
    {"refine": {"search": 2}},
    {"mean": "m", "k": 5},
)


def asked() -> Iterator[tuple[str, Any]]:
    """Values of all requirements; those beyond l have definitions in `tests.contract.value_models`."""
    people: dict[str, Any] = {
        "k": 3,
        "l": 2,
        "distinct_l": 2,
        "k_map": {"k": 6, "population": PEOPLE},
        "delta_presence": {"max": "1/2", "population": PEOPLE},
    }
    for name in REQUIREMENTS:
        values = [people[name]] if name in people else [one.asked for one in MODELS if one.name == name]
        assert values, f"tests ask nothing of requirement {name}"
        yield from ((name, value) for value in values)


@cache
def dealt() -> tuple[Deal, ...]:
    """The releases.

    One of each method of `ALWAYS`, and more, of methods in turn, until everything is in one of them.
    """
    able = {name: _takes(Deal({"name": name}), asked()) for name in METHODS}
    taken = {part for own in able.values() for one in own for part in one.parts}
    others = [one for one in asked() if str(one) not in taken]
    for name in METHODS:
        able[name] += [one for plain in _with_options(name) for one in _takes(plain, others)]
    parts = {name: {part for one in own for part in one.parts} for name, own in able.items()}
    takers = Counter(part for own in parts.values() for part in own)
    wanted = {*takers, *FORMATS, *map(str, asked())}
    uses = Counter[str]()
    chosen = [(name, _rarest(able[name], takers, uses)) for name in ALWAYS]
    while lacking := sorted(wanted - set(uses), key=lambda part: (takers[part], part)):
        rare, turns = lacking[0], Counter(name for name, _ in chosen)
        name = min((name for name in METHODS if rare in parts[name]), key=lambda name: turns[name])
        chosen.append((name, _rarest([one for one in able[name] if rare in one.parts], takers, uses)))
    lines = cycle(LINES)
    return tuple(replace(one, lines=("m",) if "mean" in one.more else tuple(islice(lines, 2))) for _, one in chosen)


def _with_options(name: str) -> list[Deal]:
    """A method with its options in turn, each other one as nothing is said."""
    words = METHODS[name].words.items()
    return [Deal({"name": name, option: word}) for option, given in words for word in given[1:]]


def _takes(plain: Deal, asks: Iterable[tuple[str, Any]]) -> list[Deal]:
    """What a method may be given, judged one thing at a time."""
    wanted = [replace(plain, asked=dict([one])) for one in asks]
    taken = [one for one in wanted if one.accepted or replace(one, format="anatomy").accepted]
    formats = [name for name in FORMATS if any(replace(one, format=name).accepted for one in taken)]
    more = [extra for extra in MORE if any(replace(one, more=extra).accepted for one in taken)]
    return [replace(one, format=form, more=extra) for one, form, extra in product(taken, formats, more)]


def _rarest(able: Iterable[Deal], takers: Mapping[str, int], uses: Counter[str]) -> Deal:
    """The release with rare features, and with two more requirements where possible."""

    def of(some: Iterable[Deal]) -> Deal:
        order = sorted(some, key=lambda one: -sum(1 / takers[part] / 8 ** uses[part] for part in one.parts))
        return next(one for one in order if one.accepted)

    found = of(able)
    for _ in range(2):
        asks = [dict([one]) for one in asked() if one[0] not in found.asked]
        found = of([found, *(replace(found, asked={**ask, **found.asked}) for ask in asks)])
    uses.update(found.parts)
    return found


def table() -> Any:
    """Rows of every type, with places of a hierarchy, and few sensitive numbers."""
    import pyarrow as pa

    draw = random.Random(17)
    places = [*(place for group in PLACES.values() for place in group), None]
    made = arrow(ROWS).drop_columns(["diag"])
    made = made.append_column("place", pa.array([draw.choice(places) for _ in range(ROWS)], pa.string()))
    ill = draw.choices([1, 2, 3, 4, None], [4, 3, 3, 3, 2], k=ROWS)
    return made.append_column("ill", pa.array(ill, pa.int32()))
