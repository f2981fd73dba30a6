"""What a release without a database of its own cannot be: nothing of it stays for the next one."""

from __future__ import annotations

from sqlanon.errors import PolicyError
from sqlanon.spec import ReleaseSpec


def check_once(spec: ReleaseSpec, what: str) -> None:
    """A release of a file or a frame needs no secret that stays.

    Boxes of their own do: of drawings by several secrets a reader takes for each record the rows that fit its box in
    all, and those are few.

    Args:
        spec: the release.
        what: what it is made of, with its article.

    Raises:
        PolicyError: it asks for boxes of their own.
    """
    if spec.privacy.own_boxes:
        raise PolicyError(
            f"boxes: own is not for {what}: nothing keeps the secret that draws the boxes, so that each release of one "
            "source would be drawn anew, and fewer than k rows would fit the boxes of a row in all; keep the table in "
            "a database, where the secret stays: sqlanon anonymize TABLE --db duckdb:///FILE.duckdb --to out.parquet "
            "(in Python sqlanon.connect)"
        )
