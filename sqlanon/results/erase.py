"""Cost and result of erasing keys from a lineage."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class EraseReport(Report):
    """Keys that are never published again.

    Attributes:
        release: name of the release.
        keys: different ones in the list; ``published`` of them are published, ``waiting`` are not yet, ``left`` were;
            the others were never seen.
        classes: exit groups that hold one of them; they leave whole, ``rows`` in all. The others of these wait for a
            new lineage.
        stays: rows of the other published classes; None: nothing is published. With 0 no version can follow: the
            release has to be withdrawn before the keys are erased.
        versions: earlier versions with tables to be dropped.
        version: the version that was published without them; None: there is none, as nothing is published, or nothing
            was done yet.
        done: the keys are erased.
        apart: keys on the list by another key, type of it or secret than that of now: they are recognized no more, and
            have to be among these.
        only_listed: no version without the keys can be made of the lineage, as the key or the secret has changed;
            they are listed alone, and left out by the new lineage that has to begin.
        warnings: other lake tables and databases that got versions, which no command changes any more.
    """

    release: str
    keys: int
    published: int
    waiting: int
    left: int
    classes: int
    rows: int
    versions: tuple[int, ...]
    version: int | None = None
    done: bool = False
    apart: int = 0
    only_listed: bool = False
    stays: int | None = None
    warnings: tuple[str, ...] = ()
