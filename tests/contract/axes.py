"""What the registries offer: every method, its variants and executions, and which samples each is run on.

In memory, a method in its default options runs on every sample; other values of its options on `FEW`, as they change
one decision and not what the rest of a run does. On a server, where only the SQL differs, it is `CORE` and `FEW`. Which
pairs must be refused instead is the oracle's to say, see `tests.oracle.methods`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest

from tests.contract.cases import Case
from tests.contract.samples import CORE, FEW, SAMPLES
from tests.engines import PAIR
from tests.oracle.chance import SEED
from tests.oracle.methods import ORACLES, Oracle

ELSEWHERE: Mapping[str, str] = {
    "freeform": "tests/contract/test_freeform_drawn.py",
    "matchings": "tests/properties/test_matchings.py",
    "koptimize": "tests/contract/test_koptimize.py",
    "microaggregation": "tests/contract/test_microaggregation.py",
}
"""Methods with a suite of their own, and where it is.

They are those of boxes, the one that takes ordered columns alone, and the one that draws steps at random.
"""


@dataclass(frozen=True)
class Way:
    """A method with its options."""

    method: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([self.method, *self.options.values()])

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `Database.anonymize` that choose it."""
        return {"method": {"name": self.method, **self.options}, "seed": SEED}

    def classes(self, case: Case) -> list[list[int]]:
        """What the oracle says."""
        return ORACLES[self.method].classes(case.table, case.privacy, self.options, SEED)

    def takes(self, case: Case) -> bool:
        """Whether the method is made for what the case asks."""
        return ORACLES[self.method].accepts(case.table, case.privacy, self.options)


def ways() -> list[Way]:
    """Every method of the registry that makes classes of any columns, in every variant; others are in `ELSEWHERE`."""
    from sqlanon.declared import METHODS

    return [
        Way(name, dict(zip(method.words, values, strict=True)))
        for name, method in METHODS.items()
        if name not in ELSEWHERE
        for values in product(*(_values_of(ORACLES[name], option, given) for option, given in method.words.items()))
    ]


def _values_of(oracle: Oracle, option: str, given: Sequence[str]) -> Sequence[str]:
    """The values of an option that are tried here; the first takes the place of the default."""
    if option in oracle.instead:
        return [oracle.instead[option], *(value for value in given[1:] if value != oracle.instead[option])]
    return given[:1] if option in oracle.elsewhere else given


def is_default(way: Way) -> bool:
    """Whether all options have the value that they have when nothing is said, or the one that takes its place."""
    from sqlanon.declared import METHODS

    instead = ORACLES[way.method].instead
    return all(way.options[name] == instead.get(name, values[0]) for name, values in METHODS[way.method].words.items())


def executions(way: Way) -> tuple[str, ...]:
    """The executions that the method declares, as far as the way has them."""
    from sqlanon.declared import METHODS

    return tuple(one for one in METHODS[way.method].executions if one in ORACLES[way.method].executions)


def samples_of(way: Way) -> Sequence[Case]:
    """The samples that the way is run on."""
    return SAMPLES if is_default(way) else FEW


def by_options(chosen: Sequence[Way]) -> list[Any]:
    """Ways as pytest parameters, for what the options of a method hardly touch.

    Other options are for ``--thorough``.
    """
    return [pytest.param(way, id=str(way), marks=other_options(way)) for way in chosen]


def other_options(way: Way) -> list[pytest.MarkDecorator]:
    """The marks of a way whose options are not the default ones."""
    return [] if is_default(way) else [pytest.mark.thorough]


def everywhere() -> list[Any]:
    """Every (engine, way, execution, sample) that must work, as pytest parameters."""
    return [
        pytest.param(engine, way, execution, case, id=f"{engine.name}-{way}-{execution}-{case.name}")
        for engine in PAIR
        for way in ways()
        for case in samples_of(way)
        if way.takes(case) and (engine is PAIR[0] or case in CORE)
        for execution in executions(way)
    ]


def walks() -> list[Any]:
    """Whole runs: every sample once on every engine, and every method in its default options.

    Ways and executions alternate.
    """
    chosen = []
    for engine in PAIR:
        missing = {way.method for way in ways() if is_default(way)}
        for turn, case in enumerate(SAMPLES if engine is PAIR[0] else CORE):
            able = [way for way in ways() if is_default(way) and way.takes(case)]
            able = [way for way in able if way.method in missing] or able
            chosen.append((engine, able[turn % len(able)], case, turn))
            missing -= {chosen[-1][1].method}
        for turn, name in enumerate(sorted(missing)):
            way = next(way for way in ways() if way.method == name and is_default(way))
            chosen.append((engine, way, next(filter(way.takes, SAMPLES)), turn))
    return [
        pytest.param(
            engine, way, executions(way)[turn % len(executions(way))], case, id=f"{engine.name}-{way}-{case.name}"
        )
        for engine, way, case, turn in chosen
    ]


def contrasting() -> list[Way]:
    """Two ways that take everything and differ most: for what depends on the classes alone."""
    able = [way for way in ways() if all(way.takes(case) for case in SAMPLES)]
    return [able[0], able[-1]]


def runs(samples: Sequence[Case] | None = None) -> list[Any]:
    """Every (way, execution, sample) that must work, as pytest parameters.

    The samples are these, or those of each way.
    """
    return [
        pytest.param(way, execution, case, id=f"{way}-{execution}-{case.name}", marks=other_options(way))
        for way, case in _pairs(samples)
        if way.takes(case)
        for execution in executions(way)
    ]


def refusals() -> list[Any]:
    """Every (way, sample) that must be refused, as pytest parameters."""
    return [pytest.param(way, case, id=f"{way}-{case.name}") for way, case in _pairs(None) if not way.takes(case)]


def _pairs(samples: Sequence[Case] | None) -> Iterator[tuple[Way, Case]]:
    for way in ways():
        for case in samples_of(way) if samples is None else samples:
            yield way, case
