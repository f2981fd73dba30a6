"""Classes of a release with pseudonyms.

Tokens reveal the rows of one person, so that persons of a class must have equally many rows.

A reader of tokens sees more of a person than the class: the number of rows there, and the cells in the other tables
of the scope. Persons are therefore divided into blocks first, by both, and a method divides the persons of each block.
Fewer than k persons who are alike would be found by it: rows of theirs are left out until they are as many as those of
k others, or none. Which of a person's rows, a keyed hash decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import TableRef
from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.method import Method
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.kanonymity.requirement import KAnonymity, of_units
from sqlanon.release.divide import persons_whole
from sqlanon.release.divide.division import DividedRows, DivisionKeys
from sqlanon.table.encode import EncodedTable
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


@dataclass(frozen=True, slots=True)
class TokenLinks:
    """Tokens of the persons, and tokens published elsewhere.

    Attributes:
        token: their alias in the stage.
        elsewhere: scratch table (token, sign) of the published tables of the scope; None without others.
    """

    token: str
    elsewhere: TableRef | None


def assign_tokens(context: Context, method: Method, linking: TokenLinks) -> tuple[Assignment, dict[int, int]]:
    """Classes of the rows, and the block of each class.

    Cost: that of `persons_whole.assign`, with a run of the method for each block of at least 2k persons; a sort of
    the rows by person if some are left out.
    """
    import numpy as np

    scratch, encoded = context.scratch, context.encoded
    (person,) = encoded.persons
    k = max(
        (int(requirement.asked) for requirement in context.requirements if isinstance(requirement, KAnonymity)),
        default=1,
    )
    take, block = _plan_rows(scratch, encoded, linking, k)
    if not take.any():
        raise InfeasibleError(
            f"no {k} persons have equally many rows and are alike in the other tables of the scope: with tokens none "
            "can be published"
        )
    encoded_kept = _keep_published(context, take)
    units, part, usual = persons_whole.units_of(context, encoded_kept)
    guides = persons_whole.guides_of(context, usual)
    chosen_persons, classes = scratch.table("chosen"), np.full(person.codes, -1, np.int32)
    scratch.engine.load_arrays(chosen_persons, {"person": np.arange(person.codes, dtype=np.int32), "block": block})
    unit_requirements = (
        *of_units(context.requirements),
        *persons_whole.guide_requirements(scratch, encoded_kept, units, part, guides),
    )
    inner = replace(context, listed=False, read_again=True, suppression=None, most_unassigned=0)
    execution, first = "kernel", 0
    notes: list[str] = []
    blocks: dict[int, int] = {}
    for number in np.unique(block[take > 0]).tolist():
        members = np.flatnonzero((block == number) & (take > 0)).astype(np.int32)
        division = None
        if len(members) >= 2 * k:
            division = _divide_block(
                inner, method, units, chosen_persons, number, replace(part, rows=len(members)), unit_requirements
            )
        block_classes: Ints = np.zeros(len(members), np.int32)
        if division is not None:
            members, block_classes, execution, block_notes = division
            notes += block_notes
        classes[members] = block_classes + first
        blocks |= dict.fromkeys(range(first, first + int(block_classes.max()) + 1), number)
        first += int(block_classes.max()) + 1
    divided, table = scratch.table("classes_of_persons"), scratch.table("assigned")
    present = np.flatnonzero(classes >= 0).astype(np.int32)
    scratch.engine.load_arrays(divided, {"person": present, "class": classes[present]})
    scratch.execute("persons/of_kept", assigned=table, kept=encoded_kept.work, classes=divided, person=person.code)
    for scratch_table in (
        units,
        chosen_persons,
        divided,
        *([encoded_kept.work] if encoded_kept is not encoded else []),
    ):
        scratch.drop(scratch_table)
    rows_left_out = encoded_kept.rows < encoded.rows
    if rows_left_out:
        short = int(((take > 0) & (take < _counts(scratch, encoded, linking)[0])).sum())
        left_out = int((take == 0).sum())
        notes.append(
            f"tokens: {left_out} persons are left out, and rows of {short} others, as fewer than {k} persons would "
            "be alike"
        )
    made_of = Assignment(
        table, execution, tuple(dict.fromkeys(notes)), divided=False, refined=True, unassigned=rows_left_out
    )
    return made_of, blocks


def _counts(scratch: Scratch, encoded: EncodedTable, linking: TokenLinks) -> tuple[Ints, Ints]:
    """Rows of each person, and the kind of the person's token elsewhere."""
    import numpy as np

    (person,) = encoded.persons
    statement = scratch.sql(
        "persons/counted",
        work=encoded.work,
        stage=encoded.stage,
        person=person.code,
        token=linking.token,
        elsewhere=linking.elsewhere,
    )
    who, n, sign = scratch.fetch_arrays(statement, ["int32", "int32", "int32"])
    rows, like = np.zeros(person.codes, np.int32), np.zeros(person.codes, np.int32)
    rows[who], like[who] = n, sign
    return rows, like


def _plan_rows(scratch: Scratch, encoded: EncodedTable, linking: TokenLinks, k: int) -> tuple[Ints, Ints]:
    rows, like = _counts(scratch, encoded, linking)
    absent: dict[int, int] = {}
    if linking.elsewhere is not None:
        statement = scratch.sql("persons/absent", stage=encoded.stage, token=linking.token, elsewhere=linking.elsewhere)
        signs, n = scratch.fetch_arrays(statement, ["int32", "int32"])
        absent = dict(zip(signs.tolist(), n.tolist(), strict=True))
    return choose_row_counts(rows, like, absent, k)


def choose_row_counts(rows: Ints, like: Ints, absent: dict[int, int], k: int) -> tuple[Ints, Ints]:
    """How many rows of each person are published, so that at least k persons of each kind have equally many.

    From the most rows down: persons of a number of rows are a block if they are k; otherwise they give up rows, and are
    counted with those who have fewer. Where persons of a kind are published elsewhere, those without a row here are
    none or k: the smallest blocks join them.

    Args:
        rows: of each person.
        like: the kind of each person, from 1; 0: published nowhere else.
        absent: of each kind, the number of persons who are published elsewhere and have no row.
        k: persons.

    Returns:
        number of published rows of each person, and the person's block.

    Cost: a sort of the persons, and the different numbers of rows of each kind.
    """
    import numpy as np

    take, block = np.zeros(len(rows), np.int32), np.full(len(rows), -1, np.int32)
    order = np.lexsort((-rows, like))
    number = 0
    starts = [0, *(np.flatnonzero(np.diff(like[order])) + 1).tolist()] if len(order) else []
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        who = order[start:end]
        kind, counts = int(like[who[0]]), rows[who]
        spans, previous_last = [], 0
        # The last of each number of rows, from the most down.
        for last in (*(np.flatnonzero(counts[1:] != counts[:-1]) + 1).tolist(), len(who)):
            if last - previous_last >= k and counts[last - 1] > 0:
                spans.append((last - previous_last, previous_last, last))
                previous_last = last
        left_out = len(who) - previous_last + absent.get(kind, 0)
        for span in sorted(spans):
            if kind and 0 < left_out < k:
                left_out += span[0]
                spans.remove(span)
        for _, low, high in spans:
            take[who[low:high]], block[who[low:high]] = counts[high - 1], number
            number += 1
    return take, block


def _keep_published(context: Context, take: Ints) -> EncodedTable:
    """The rows that are published."""
    import numpy as np

    scratch, encoded = context.scratch, context.encoded
    (person,) = encoded.persons
    total = int(take.astype(np.int64).sum())
    if total == encoded.rows:
        return encoded
    planned, kept_rows = scratch.table("planned"), scratch.table("kept")
    scratch.engine.load_arrays(planned, {"person": np.arange(len(take), dtype=np.int32), "take": take})
    columns = [domain.code for domain in (*encoded.quasi, *encoded.sensitive, *encoded.persons)]
    scratch.execute(
        "persons/kept",
        {"secret": context.secret},
        kept=kept_rows,
        work=encoded.work,
        stage=encoded.stage,
        planned=planned,
        person=person.code,
        columns=columns,
    )
    scratch.drop(planned)
    return replace(encoded, coded=kept_rows, rows=total, numbers=encoded.past)


def _divide_block(
    context: Context,
    method: Method,
    units: TableRef,
    chosen: TableRef,
    number: int,
    part: EncodedTable,
    requirements: Sequence[Requirement],
) -> tuple[Ints, Ints, str, tuple[str, ...]] | None:
    """The persons of a block and their classes.

    None if they cannot meet the method's requirements together, so that they stay one class.
    """
    import numpy as np

    scratch = context.scratch
    with scratch.beside() as block_scratch:
        table = block_scratch.table("part")
        columns = [
            c.name for c in block_scratch.engine.look_up([units]).columns(units) if c.name not in ("rid", "person")
        ]
        block_scratch.execute("persons/part", part=table, units=units, chosen=chosen, block=number, columns=columns)
        try:
            assignment = method.assign(
                replace(context, scratch=block_scratch, encoded=replace(part, coded=table), requirements=requirements)
            )
        except InfeasibleError:
            return None
        if assignment.unassigned or assignment.starred is not None or assignment.matches is not None:
            raise PrivacyViolation("the method gave some person no class, or one of its own; nothing was published")
        statement = block_scratch.sql("persons/divided", part=table, assign=assignment.table)
        who, classes = block_scratch.fetch_arrays(statement, ["int32", "int32"])
        if len(who) != part.rows:
            raise PrivacyViolation("the method gave some person no class; nothing was published")
        _, own_classes = np.unique(classes, return_inverse=True)
        return who.astype(np.int32), own_classes.reshape(-1).astype(np.int32), assignment.execution, assignment.notes


class TokenBlocks(persons_whole.PersonsWhole):
    """The method sees the persons of a block at a time, who are alike by their tokens."""

    title: ClassVar[str] = "persons, in blocks of tokens that are alike,"

    by_choice: ClassVar[bool] = False
    sampled: ClassVar[bool] = False

    def __init__(self, token: str) -> None:
        self._token = token

    def divide(self, context: Context, method: Method, keyed: DivisionKeys) -> DividedRows:
        token = context.encoded.roles.token_of(self._token).alias
        assignment, blocks = assign_tokens(context, method, TokenLinks(token, keyed.elsewhere))
        return DividedRows(assignment, blocks)
