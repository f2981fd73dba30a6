"""Versions of running counts: each is a night, and all nights are charged together with the first.

The noisy measurements of all nights, the persons seen and the noisy table are stored in one transaction, so that after
a crash all of them are there and the table is published, or none is. See `sqlanon.noisy.nights` for what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.errors import GuardError
from sqlanon.noisy.answers import CodedSource, read_answers
from sqlanon.noisy.arrivals import Arrivals, find_arrived, keep_seen, measure_arrivals, verify_arrived
from sqlanon.noisy.published_values import estimate_night, list_drawn_rows
from sqlanon.noisy.shape import Shape, shape_of
from sqlanon.noisy.split import Noise, noise_of
from sqlanon.release.budget.charged_versions import account_in
from sqlanon.release.budget.home import copy_here, home_of
from sqlanon.release.budget.ledger import Account
from sqlanon.release.budget.nights import Night, mark_key, name_kept_tables, next_night
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.rights import drop_statistics
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.stages.work import Work
from sqlanon.release.versions.noisy import DRAWN_BEFORE, OfNoisy
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.noisy.accounting import Mechanism

LOST_TABLES = "the private tables of the earlier nights are not as they were left"


class OfNights(OfNoisy):
    """See `OfNoisy`."""

    def __init__(self, *, spend: bool = False) -> None:
        super().__init__(spend=spend)
        self._night = Night(None, 1, tried=False)
        self._earlier: list[Longs] = []
        self._arrived = Arrivals((), None, 1)

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """See `OfNoisy.decide`.

        Raises:
            GuardError: the earlier nights are not continued, and payment for new ones was not asked for.
        """
        decided = super().decide(state, decision)
        if decided.why == DRAWN_BEFORE or self._spend:
            return decided
        shape = shape_of(state.spec)
        night, _ = self._find_night(state, account_in(state), shape, noise_of(shape), state.secret)
        if night.ended:
            raise GuardError(
                f"{state.spec.name}: the nights of its running counts have ended: {night.ended}. run --spend pays for "
                "new ones, which count everybody again"
            ).with_advice("--spend")
        return decided

    def _find_night(
        self, state: ReleaseState, account: Account | None, shape: Shape, noise: Noise, secret: str | None
    ) -> tuple[Night, list[Longs]]:
        """The next night, and the noisy measurements of the earlier ones, int64[nights, groups] of each series."""
        night = next_night(account, state.spec, noise, mark_key(state.spec, state.source.columns, secret))
        earlier = self._read_measured(state, shape, night)
        if earlier is None:
            return Night(None, 1, tried=False, ended=LOST_TABLES), _no_nights(shape)
        return night, earlier

    def _read_measured(self, state: ReleaseState, shape: Shape, night: Night) -> list[Longs] | None:
        """The noisy measurements of earlier nights; None: they are not as they were left."""
        if night.first is None or night.number == 1:
            return _no_nights(shape)
        home, noisy = home_of(state.engine), state.spec.noisy
        assert noisy is not None
        seen, measured = name_kept_tables(state.engine, noisy.budget.name, night.first)
        if not (home.exists(seen) and home.exists(measured)):
            return None
        query = statement("noisy/measured", home.dialect, measured=measured)
        nights, series, nodes, values = home.fetch_arrays(query, ["int64"] * 4)
        numbers = np.concatenate([np.arange(size) for size in _sizes(shape)])
        which = np.repeat(np.arange(len(shape.series)), _sizes(shape))
        earlier = night.number - 1
        expected = (
            np.repeat(np.arange(1, night.number), len(numbers)),
            np.tile(which, earlier),
            np.tile(numbers, earlier),
        )
        if not all(
            np.array_equal(stored, computed) for stored, computed in zip((nights, series, nodes), expected, strict=True)
        ):
            return None
        by_night = values.astype(np.int64).reshape(earlier, -1)
        return np.split(by_night, np.cumsum(_sizes(shape))[:-1], axis=1)

    def charge(
        self, work: Work, account: Account | None, shape: Shape, noise: Noise
    ) -> tuple[list[Mechanism], dict[str, object]]:
        """See `OfNoisy.charge`: of all nights with the first, and of nothing with the others."""
        self._night, self._earlier = self._find_night(work.state, account, shape, noise, work.secret)
        key = mark_key(work.spec, work.state.source.columns, work.secret)
        return self._night.mechanisms(shape, noise), self._night.facts(key)

    def measure_rows(self, work: Work, shape: Shape, coded: CodedSource) -> list[Longs]:
        """See `OfNoisy.measure_rows`: tonight's row of the measurements."""
        scratch, secret, night = work.scratch, work.secret, self._night.number
        read_answers(scratch, shape, coded, secret)  # which verifies tonight's bounded rows
        seen = copy_here(scratch, self._tables(work)[0], "seen") if night > 1 else None
        self._arrived = find_arrived(scratch, shape, coded, seen, night, secret)
        verify_arrived(scratch, shape, coded, self._arrived, secret)
        return measure_arrivals(scratch, shape, coded, self._arrived)

    def estimate_rows(self, shape: Shape, noise: Noise, noisy: Sequence[Longs]) -> Iterable[tuple[object, ...]]:
        """See `OfNoisy.estimate_rows`: tonight's rows, which those of earlier nights have before them."""
        measured = [np.vstack([before, tonight]) for before, tonight in zip(self._earlier, noisy, strict=True)]
        return list_drawn_rows(shape, estimate_night(shape, noise, measured), self._night.number)

    def keep(self, work: Work, noisy: Sequence[Longs]) -> None:
        """See `OfNoisy.keep`: tonight's noisy measurements, and the persons who arrived."""
        home, (seen, measured) = home_of(work.state.engine), self._tables(work)
        sizes = [len(values) for values in noisy]
        columns = {
            "night": np.full(sum(sizes), self._night.number, np.int64),
            "series": np.repeat(np.arange(len(sizes)), sizes),
            "node": np.concatenate([np.arange(size) for size in sizes]),
            "value": np.concatenate(noisy),
        }
        home.load_arrays(measured, columns)
        keep_seen(work.scratch, home, seen, self._arrived)
        drop_statistics(home, [seen])

    def _tables(self, work: Work) -> tuple[TableRef, TableRef]:
        noisy = work.spec.noisy
        assert noisy is not None
        return name_kept_tables(work.state.engine, noisy.budget.name, self.reserved.paid_by)


def _sizes(shape: Shape) -> list[int]:
    """The number of groups of each series."""
    return [shape.tables[series.table].levels[series.level].size for series in shape.series]


def _no_nights(shape: Shape) -> list[Longs]:
    return [np.empty((0, size), np.int64) for size in _sizes(shape)]
