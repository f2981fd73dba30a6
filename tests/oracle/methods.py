"""The oracle of every method by its name in the registry: a new method needs one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.oracle.anatomy import accepts, anatomy
from tests.oracle.chance import SEED
from tests.oracle.domains import Table
from tests.oracle.mondrian import mondrian
from tests.oracle.requirements import Privacy

Oracle = Callable[[Table, Privacy, Mapping[str, str]], list[list[int]]]

ORACLES: dict[str, Oracle] = {
    "mondrian": lambda table, privacy, options: mondrian(
        table, privacy, options.get("variant", "strict"), options.get("cut", "loss")
    ),
    "anatomy": lambda table, privacy, _: anatomy(table, privacy, SEED),
}

ACCEPTS: dict[str, Callable[[Table, Privacy], bool]] = {
    "anatomy": accepts,
    "topdown": lambda _, privacy: privacy.l is None and privacy.distinct_l is None,
}
"""What a method that is not for every problem is for; every other problem it refuses."""
