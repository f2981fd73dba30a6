"""Keyed hashes of rows: an order of equal rows that says nothing of their private values."""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.table.class_rows import is_fixed_by_code
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch


def hash_keys(scratch: Scratch, rows: TableRef, roles: Roles, secret: str) -> TableRef:
    """A scratch table (rid, link_key, turn_key) of hashes.

    ``link_key`` is of the identifying columns; ``turn_key`` is of these and of the private values as they look.

    Args:
        scratch: the run.
        rows: table of rid and the staged originals.
        roles: the source's columns by role.
        secret: key of the hashes.

    Cost: a scan.
    """
    keyed = scratch.table("keyed")
    columns_kept = [{"alias": reading.alias, "kind": reading.column.kind} for reading in roles.kept]
    # The link is of unique identifiers, or else of all columns: rows of one link then have the same values, which may
    # still look different.
    turned = not all(is_fixed_by_code(reading) for reading in roles.kept)
    scratch.execute(
        "freeform/keyed", {"secret": secret}, keyed=keyed, rows=rows, kept=columns_kept, link=roles.link, turned=turned
    )
    return keyed
