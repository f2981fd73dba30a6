"""What the registries offer: every method, its variants and executions, and the formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tests.contract.cases import Case
from tests.oracle.methods import ACCEPTS, ORACLES


@dataclass(frozen=True)
class Way:
    """A method with its options."""

    method: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([self.method, *self.options.values()])

    @property
    def argument(self) -> dict[str, str]:
        """The ``method`` argument of `Database.anonymize`."""
        return {"name": self.method, **self.options}

    def accepts(self, case: Case) -> bool:
        """Whether the method is for this case; otherwise a run must refuse it."""
        return self.method not in ACCEPTS or ACCEPTS[self.method](case.table, case.privacy)

    def classes(self, case: Case) -> list[list[int]]:
        """What the oracle says."""
        return ORACLES[self.method](case.table, case.privacy, self.options)


def ways() -> list[Way]:
    """Every method of the registry in every variant."""
    from sqlanon.methods import METHODS

    return [
        Way(name, dict(zip(method.options, values, strict=True)))
        for name, method in METHODS.items()
        for values in product(*method.options.values())
    ]


def executions(way: Way) -> tuple[str, ...]:
    """The executions that the method declares."""
    from sqlanon.methods import METHODS

    return tuple(METHODS[way.method].executions)


def runs() -> list[Any]:
    """Every way in every execution, as pytest parameters."""
    import pytest

    return [
        pytest.param(way, execution, id=f"{way}-{execution}")
        for way in ways()
        for execution in executions(way)
    ]
