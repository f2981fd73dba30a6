"""The notice to a client with each answer of a release: whether it is exact, and the distance of the bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sqlanon.query.answer import Answer, Bounded


@dataclass(frozen=True)
class Notice:
    """A notice of the protocol.

    Attributes:
        text: the message for the reader.
        severity: NOTICE, or WARNING where bounds have an unusual meaning.
    """

    text: str
    severity: str = "WARNING"


def notices_of(answer: Answer, *, shown: bool = False) -> tuple[Notice, ...]:
    """The notices of an answer: the first says whether it is exact.

    Args:
        answer: the answer.
        shown: the bounds of all estimates are among the columns.
    """
    return (Notice(_exactness(answer, shown=shown), "NOTICE"), *(Notice(text) for text in _warnings(answer)))


def _exactness(answer: Answer, *, shown: bool) -> str:
    cells = [(name, row[name]) for row in answer.rows for name in answer.aggregates]
    wide = [(name, cell) for name, cell in cells if isinstance(cell, Bounded) and not cell.exact]
    unsure = answer.certain.count(False)
    if not wide and not unsure and not answer.unsettled_groups and not answer.unlisted_groups:
        return "exact: every source that fits the release gives this answer"
    parts = []
    if wide:
        name, cell = max(wide, key=lambda pair: _width(pair[1]))
        apart = _width(cell)
        measure = f"{100 * apart:.3g} % of it apart" if apart < math.inf else "without an end, around 0 or no numbers"
        parts.append(
            f'{len(wide):,} of {len(cells):,} values are estimates, the widest ("{name}") with bounds {measure}'
        )
    if unsure:
        parts.append(f"{unsure:,} of {len(answer.rows):,} rows are not in the answer of every source")
    if answer.unsettled_groups:
        parts.append("conditions on groups go by their estimates, so that there may be more rows")
    remedy = "; SET sqlanon.bounds = on shows the bounds of all" if (wide or unsure) and not shown else ""
    return f"not exact: {'; '.join(parts) or 'there may be more rows'}{remedy}"


def _width(cell: Bounded) -> float:
    return math.inf if cell.width is None else cell.width


def _warnings(answer: Answer) -> Iterator[str]:
    if answer.unlisted_groups:
        yield "rows may be in further groups, of values that the release shows nowhere"
    if answer.left_out:
        yield f"the release leaves out {answer.left_out} rows of its source; bounds count them in"
    if answer.unlike is not None:
        unlike = answer.unlike
        yield (
            f"bounds are of the rows as published: {unlike.retained} are no longer in the source, {unlike.stale} have "
            f"other values there, {unlike.not_published} of the source are not published"
        )
