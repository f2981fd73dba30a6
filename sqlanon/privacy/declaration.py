"""Abilities that several requirements lack, with the reason."""

from __future__ import annotations

from sqlanon.lack import never, notimpl

OF_ROWS = never("it counts rows, not values")
NO_SHARES_WITHIN = notimpl("shares of the release within each value of another column are not counted")
NO_TALLY_OF_POPULATIONS = notimpl("no tally counts the rows of a population")
