"""Keys of refreshed releases: refresh and history. `sqlanon.declared.keys` has the whole table."""

from __future__ import annotations

from typing import Final

from sqlanon.declared.key import Key
from sqlanon.declared.kinds import DURATION
from sqlanon.declared.values import SHARE, Integer, OneOf
from sqlanon.spec import MODES, RefreshSpec

_REFRESH = RefreshSpec()

REFRESH_KEYS: Final[tuple[Key, ...]] = (
    Key(
        "refresh.mode",
        OneOf(MODES),
        _REFRESH.mode,
        "`full`: every version is computed anew from the whole source. What versions reveal together is measured (see "
        "`history`), not prevented. `frozen`: a row is published in one class, once, and stays as it was published "
        "until its whole class has left the source; new rows wait and are published together. All versions together "
        "keep what each promises. Needs `key`. See [frozen.md](frozen.md).",
    ),
    Key(
        "refresh.cohort",
        None,
        None,
        "With `mode: frozen`: when the rows that wait are published together, as classes of their own.",
    ),
    Key(
        "refresh.max_stale",
        SHARE,
        None,
        "With `mode: frozen`: the share of the published rows that the source has with other values, at most; with "
        "more, `run` publishes nothing.",
    ),
    Key(
        "refresh.max_retained",
        SHARE,
        None,
        "With `mode: frozen`: the share of the published rows that the source no longer has, at most.",
    ),
    Key(
        "refresh.max_waiting",
        SHARE,
        None,
        "With `mode: frozen`: the share of the source's rows that are not published, at most.",
    ),
    Key(
        "refresh.max_age",
        DURATION,
        None,
        "With `mode: frozen`: how long a row that was never published may wait, at most: 24h, 7d.",
    ),
    Key("refresh.cohort.rows", Integer(1), None, "Publish them when so many wait; at least k. Default: 50 times k."),
    Key(
        "refresh.cohort.every",
        DURATION,
        None,
        "Publish them, if at least k wait, when one has waited so long: 24h, 7d. Default: only `rows` counts.",
    ),
    Key(
        "history.max_failing",
        Integer(0),
        None,
        "Rows that may be left in groups below k (of events: k persons), l or distinct_l, at most, when a reader "
        "compares the new version with the published one; of a release with pseudonyms also tokens among fewer than "
        "k; with more, `run` publishes nothing. Default: any number; with `boxes: own` it must be given for a version "
        "that changes candidates.",
        "int",
    ),
)
"""The keys, in the order of the reference."""
