"""Error texts where no classes meet the requirements."""

from __future__ import annotations

from sqlanon.methods.base import Context
from sqlanon.privacy.base import Grouped, beyond_rows, round_reachable


def explain_infeasible(context: Context) -> str:
    """The reason why no node is lawful, and options that are not yet set.

    The best that the whole table reaches is added if it is less than asked.
    """
    encoded, suppression, most = context.encoded, context.suppression, context.most_unassigned
    starred = suppression is None or suppression.rows == "starred"
    options = [
        text
        for open_, text in (
            (most < encoded.rows, "raise limit" if suppression else "set suppression: {limit: ...}"),
            (starred, "say rows: left_out"),
        )
        if open_
    ]
    reached = []
    for requirement in beyond_rows(context.requirements):
        codes, persons = ([column.code for column in columns] for columns in (encoded.sensitive, encoded.persons))
        largest = requirement.largest(context.scratch.engine, Grouped(encoded.work, (), codes, persons=persons))
        if not requirement.reaches(largest):
            of = f" of {requirement.column}" if requirement.column else ""
            reached.append(f"{requirement.name} = {round_reachable(requirement, largest):g}{of}")
    what = (
        f"no node has suppressed rows that meet the requirements as a class of their own within {most} of "
        f"{encoded.rows} rows"
        if starred
        else f"no classes were found that meet the requirements with at most {most} of {encoded.rows} rows left out"
    )
    whole = f"; the whole table reaches {', '.join(reached)}" if reached else ""
    return f"fulldomain: {what}{whole}: {', '.join([*options, 'or ask for less' if options else 'ask for less'])}"
