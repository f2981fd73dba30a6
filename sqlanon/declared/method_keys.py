"""The keys of the method: name, refinement, suppression. `sqlanon.declared.keys` has the whole table."""

from __future__ import annotations

from typing import Final

from sqlanon.declared.key import Key
from sqlanon.declared.kinds import METHOD_NAME
from sqlanon.declared.values import REQUIRED, SHARE, Integer, OneOf
from sqlanon.spec import MAX_PASSES, MAX_SEARCH, MAX_WINDOW, SUPPRESSED_ROWS, RefineSpec

_REFINE = RefineSpec()

METHOD_KEYS: Final[tuple[Key, ...]] = (
    Key(
        "method.name",
        METHOD_NAME,
        REQUIRED,
        # A test compares: to ask the registry here would import the declarations of extensions.
        "`tree`, `hilbert`, `hilbert_fast`, `idistance`, `idistance_fast`, `mondrian`, `topdown`, `anatomy`, "
        "`suppress`, `best`, `tds`, `fulldomain`, `koptimize`, `kmember`, `mdav`, `agglomerative`, `sequential`, "
        "`microaggregation`, `freeform`, `matchings`. "
        "docs/onedim.md says which to take.",
    ),
    Key("refine.window", Integer(1, MAX_WINDOW), _REFINE.window, "Classes on either side that a row looks at."),
    Key(
        "refine.passes",
        Integer(1, MAX_PASSES),
        _REFINE.passes,
        "Runs over all rows, at most; it ends earlier when nothing moves.",
    ),
    Key(
        "refine.search",
        Integer(0, MAX_SEARCH),
        _REFINE.search,
        "Trials after the passes, for every class that loses something: the rows of a few near classes are divided "
        "anew, and stay so where they lose less. `refine: true` takes the number from a table, which docs/onedim.md "
        "shows.",
    ),
    Key("suppression.limit", SHARE, 0, "The share of the source's rows, at most: 0.02 allows 2 of 100."),
    Key(
        "suppression.rows",
        OneOf(SUPPRESSED_ROWS),
        "starred",
        "`starred`: published with `*` in every quasi column, as one class that meets every requirement; their other "
        "columns are shown. `left_out`: not published; only their number is.",
    ),
)
"""The keys, in the order of the reference."""
