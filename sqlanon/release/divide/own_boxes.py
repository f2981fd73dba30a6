"""Boxes of their own between method and publication.

Rows and boxes are numbered, a matching is drawn, and every row occurs once for each box that it fits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from sqlanon.declared import METHODS
from sqlanon.engines.base import TableRef
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.formats import Candidates
from sqlanon.methods.base import Assignment, Context, Matches
from sqlanon.methods.freeform.secret import of_method
from sqlanon.methods.method import Method
from sqlanon.release.divide.division import DividedRows, Division, DivisionKeys
from sqlanon.release.verify.box_certificate import CertificateProof
from sqlanon.release.verify.certificate import Certificate
from sqlanon.spec import ReleaseSpec
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.keyed_hashes import hash_keys
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


@dataclass(frozen=True, slots=True)
class DrawnMatching:
    """The k matchings of a graph, remixed, and the matching that is drawn.

    Attributes:
        k: how many.
        table: scratch table (rid, class integer): the box in which every row is published.
        edges: scratch table (rid, slot, box integer; matching smallint): the boxes of every row.
        slots: scratch table (rid, slot integer).
        content: key of the random numbers besides secret and release, as a keyed hash.
    """

    k: int
    table: TableRef
    edges: TableRef
    slots: TableRef
    content: str


def draw_boxes(context: Context, spec: ReleaseSpec, secret: str, matches: Matches) -> DrawnMatching:
    """Number the rows and boxes of a graph, make k matchings of it and draw one, by the secret.

    Rows are numbered by their quasi values, and rows of equal values by a keyed hash: that also gives their places
    in the graph. So order and numbers of the method decide nothing, and verification makes all of it again
    from the graph (`sqlanon.release.verify.certificate`).

    Args:
        context: the run as the method saw it.
        spec: the release.
        secret: key of the release's hashes, hidden from the method.
        matches: the graph.

    Raises:
        PrivacyViolation: not every row has k boxes, and every box k rows.

    Cost: a sort of the rows, and O(n k log n), expected.
    """
    import numpy as np

    from sqlanon.kernels.freeform_graph import list_rows_of_boxes, order_boxes
    from sqlanon.methods.freeform import draw
    from sqlanon.methods.freeform.secret import content_of, key_of
    from sqlanon.methods.shared import kernel_input

    scratch, encoded, engine = context.scratch, context.encoded, context.scratch.engine
    places, edges, table = scratch.table("slots"), scratch.table("edges"), scratch.table("drawn")
    hashed = hash_keys(scratch, encoded.stage, encoded.roles, secret)
    quasi = [domain.code for domain in encoded.quasi]
    scratch.execute("freeform/numbered", slots=places, work=encoded.work, keyed=hashed, codes=quasi)
    scratch.drop(hashed)
    rid, slot = scratch.fetch_arrays(scratch.sql("freeform/slots", slots=places), ["int32", "int32"])
    slot_of, rid_of = np.empty(encoded.rows, np.int32), np.empty(encoded.rows, np.int32)
    slot_of[rid], rid_of[slot] = slot, rid
    rid, codes, _, _ = kernel_input.fetch_codes(context, tie_break=False, sensitive=False)
    lined = np.empty_like(codes)
    lined[:, slot_of[rid]] = codes
    content = content_of(secret, list_asked(spec), lined, kernel_input.make_geometry(context))
    key = key_of(secret, spec.name, content)
    regular, box_rows = list_rows_of_boxes(_deal_boxes(matches, slot_of, lined))
    if not regular:
        raise PrivacyViolation(
            f"method {spec.method.name} gave no {len(matches.boxes)} boxes to each row and as many rows to each box; "
            "nothing was published"
        )
    box_rows = box_rows[order_boxes(box_rows)]
    matchings = draw.remix_matchings(box_rows, key)
    k = len(matchings)
    engine.load_arrays(table, {"rid": rid_of, "class": matchings[draw.draw_matching(k, key)]})
    slots = np.arange(encoded.rows, dtype=np.int32)
    for t in range(k):
        number = np.full(encoded.rows, t, np.int16)
        engine.load_arrays(edges, {"rid": rid_of, "slot": slots, "box": matchings[t], "matching": number})
    return DrawnMatching(k, table, edges, places, content)


def _deal_boxes(matches: Matches, slot_of: Ints, lined: Ints) -> Ints:
    """The boxes of every slot, int32[k, n].

    The first slot of equal rows gets the first place in the method's order, whichever row has it there.

    Args:
        matches: the graph.
        slot_of: int32[n], the slot of every row id.
        lined: int32[d, n], the codes of every slot.
    """
    import numpy as np

    n = lined.shape[1]
    if matches.boxes.shape[1:] != (n,) or not np.array_equal(np.sort(matches.rid), np.arange(n)):
        raise PrivacyViolation("the method gave boxes to other rows than those of the table; nothing was published")
    begins = np.zeros(n, np.int32)
    begins[1:] = (lined[:, 1:] != lined[:, :-1]).any(axis=0)
    order = np.argsort(np.cumsum(begins, dtype=np.int32)[slot_of[matches.rid]], kind="stable")
    return np.ascontiguousarray(matches.boxes[:, order], np.int32)


def list_asked(spec: ReleaseSpec) -> dict[str, object]:
    """The policy's settings for the boxes: the method, the method's options, and k."""
    options = METHODS[spec.method.name].values(spec.method.options)
    return {**options, "method": spec.method.name, "k": spec.privacy.k}


def match_rows(scratch: Scratch, classed: ClassedRows, matchings: DrawnMatching) -> ClassedRows:
    """A scratch table of the classed rows, each once for each box that it fits.

    Boxes are recoded and verified like classes.

    Cost: a join, k rows for every row.
    """
    table, quasi = scratch.table("matched"), classed.encoded.quasi
    columns = [domain.reading.alias for domain in quasi] + [domain.code for domain in quasi]
    scratch.execute("freeform/matched", matched=table, edges=matchings.edges, classed=classed.table, columns=columns)
    return replace(classed, table=table)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBoxes(DividedRows):
    """See `DividedRows`: every row has a box of its own.

    Attributes:
        drawn: the boxes.
        spec: the release.
        secret: key of the draw.
    """

    drawn: DrawnMatching
    spec: ReleaseSpec
    secret: str = field(repr=False)

    def divides_equal_rows(self, *, trusted: bool) -> bool:
        """No: boxes are no classes."""
        return False

    def rows(self, scratch: Scratch, classed: ClassedRows) -> ClassedRows:
        return match_rows(scratch, classed, self.drawn)

    def proof(self, scratch: Scratch, rows: TableRef) -> CertificateProof:
        """The certificate, before the version of the release gives names to the tables."""
        boxes, unnamed = self.drawn, Certificate.of(scratch.engine, "unnamed")
        candidates = Candidates(boxes.k, rows, boxes.edges, boxes.slots, unnamed.edges, boxes.content)
        return CertificateProof(candidates, self.spec, self.secret, unnamed)


class OwnBoxes(Division):
    """The method gives each row several boxes, of which one is drawn; a method that gives classes may do so."""

    brings: ClassVar[bool] = False
    title: ClassVar[str] = "rows with boxes of their own"
    remarks: ClassVar[tuple[str, ...]] = (
        (
            "boxes: own: every row gets a box of its own, and k counts candidates, the rows that fit a box; there are "
            "no classes (docs/threat-model.md, boxes of their own)"
        ),
    )
    compares_all: ClassVar[bool] = True
    sampled: ClassVar[bool] = False

    def __init__(self, spec: ReleaseSpec) -> None:
        self._spec = spec

    def check_once(self, what: str) -> None:
        """It cannot, as the secret would not stay.

        Of drawings by several secrets a reader takes for each record the rows that fit the boxes in all, and those are
        few.
        """
        raise PolicyError(
            f"boxes: own is not for {what}: nothing keeps the secret that draws the boxes, so that each release of one "
            "source would be drawn anew, and fewer than k rows would fit the boxes of a row in all; keep the table in "
            "a database, where the secret stays: sqlanon anonymize TABLE --db duckdb:///FILE.duckdb --to out.parquet "
            "(in Python sqlanon.connect)"
        )

    def key(self, secret: str) -> str:
        """A secret other than that of the draw."""
        return of_method(secret)

    def divide(self, context: Context, method: Method, keyed: DivisionKeys) -> DividedRows:
        """Run the method, and draw."""
        assignment = method.assign(context)
        if assignment.matches is None:
            return DividedRows(assignment)
        boxes = draw_boxes(context, self._spec, keyed.secret, assignment.matches)
        box_assignment = Assignment(
            boxes.table, assignment.execution, assignment.notes, divided=False, search=assignment.search
        )
        return DrawnBoxes(assignment=box_assignment, drawn=boxes, spec=self._spec, secret=keyed.secret)
