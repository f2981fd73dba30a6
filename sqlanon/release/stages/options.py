"""Options of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one run, beside the policy.

    Attributes:
        full: make a new version even where source, policy and sqlanon are those of the published version.
        allow_weaker: the policy may promise less than that of the published version.
        only_due: leave a release alone that a run looked at less than ``every`` ago.
        compare: leave a release that is up to date; without it a new version is made in any case.
        keep_scratch: keep every intermediate table in the private schema, with source values, until the next run or
            `clean`; the report lists them.
        new_lineage: with ``refresh: {mode: frozen}`` publish all rows anew, as those of a release of their own.
        spend: of differentially private statistics pay for a version now, whatever the clock says.
    """

    full: bool = False
    allow_weaker: bool = False
    only_due: bool = False
    compare: bool = True
    keep_scratch: bool = False
    new_lineage: bool = False
    spend: bool = False
