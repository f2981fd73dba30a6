"""Limits on the width of a release.

Rows may have too many columns, or too long texts, for an engine or the memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.declared import FORMATS, METHODS
from sqlanon.errors import PolicyError
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch

COPIES = 12
"""Largest number of blocks of rows in memory at a run's peak: 6 to 11 were measured (`python -m benchmarks.texts`).

With a limit of fewer than 6 DuckDB fails.
"""

ALWAYS_THERE = 16 << 20
"""Bytes that an engine has at hand however little a run may use: texts that need no more stop nothing."""

_HEADER = 40
"""Bytes of a row in addition to the columns, rounded up."""


def guard_texts(scratch: Scratch, spec: ReleaseSpec, rows: int, lengths: Mapping[str, int], memory: int) -> None:
    """Texts fit into memory, a block of rows at a time as the engine works.

    Args:
        scratch: the run.
        spec: the release.
        rows: how many the source has.
        lengths: of each column of texts their length in all.
        memory: bytes that the run may use.

    Raises:
        PolicyError: they do not; the message states how much memory is enough, and names the widest column.
    """
    if not rows or not lengths:
        return
    block = min(rows, scratch.engine.capabilities.block_rows)
    text_bytes = sum(lengths.values()) * block // rows
    needed = text_bytes * COPIES
    if needed > max(memory, ALWAYS_THERE):
        widest = max(lengths, key=lambda name: lengths[name])
        raise PolicyError(
            f"{spec.name}: texts are too long for its memory: {block} rows, which the engine holds at once, have "
            f"{text_bytes >> 20} MiB of them, and a run needs about {COPIES} times as much. It may use "
            f"{memory >> 20} MiB: raise memory to {(needed >> 20) + 1}MiB, or shorten or leave out {widest}, the "
            "longest, in a view of the source"
        )


def guard_columns(scratch: Scratch, spec: ReleaseSpec, quasi: Sequence[Domain]) -> None:
    """The widest table of a run, a row for each class with the box, fits into the engine's rows.

    Raises:
        PolicyError: it does not; the message states how many quasi columns do.
    """
    limits = scratch.engine.capabilities
    if limits.max_columns is None or limits.max_row_bytes is None or FORMATS[spec.format.kind].exact:
        return
    # lo, hi, null, ncp and lm; in addition the size of a node or set, and a set of few values as bits (see
    # recode/boxes). Of methods that suppress rows also the level.
    level = int(bool(METHODS[spec.method.name].suppresses))
    columns = sum(5 + level + (d.reading.treatment != "ordered") + d.fits_bits for d in quasi) + 2
    row = sum(32 + 4 * level + 8 * (d.reading.treatment != "ordered") + 8 * d.fits_bits for d in quasi) + _HEADER
    if columns <= limits.max_columns and row <= limits.max_row_bytes:
        return
    share = max(columns / limits.max_columns, row / limits.max_row_bytes)
    raise PolicyError(
        f"{spec.name}: {len(quasi)} quasi columns are too many for this database: a class would be a row of {columns} "
        f"columns and about {row} bytes, and its tables have at most {limits.max_columns} columns and "
        f"{limits.max_row_bytes} bytes. About {int(len(quasi) / share)} quasi columns of these kinds fit: leave "
        "columns out (rest: drop), or release the table from DuckDB"
    )
