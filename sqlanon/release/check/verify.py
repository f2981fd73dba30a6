"""Verify: does the physical table keep its promises? Written apart from every method; it trusts only tables.

Runs inside the publishing transaction. What it checks: every staged row is covered by what is published for it; the
table holds the staged rows, no more, no fewer, and just the columns of the policy; and over the groups of *every*
released QI-derived column each requirement holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.engines.base import Relation, TableRef
from sqlanon.errors import PrivacyViolation
from sqlanon.privacy.base import Requirement, Sizes, as_number
from sqlanon.privacy.diversity import FrequencyDiversity
from sqlanon.release.make.labels import parse_label, quote
from sqlanon.release.make.recode import Recoded
from sqlanon.results import RequirementResult
from sqlanon.spec import FormatSpec
from sqlanon.table.encode import Domain, Encoded
from sqlanon.table.scratch import Scratch
from sqlanon.table.wide import FEW


@dataclass(frozen=True, slots=True)
class Verified:
    """What verify measured on the physical table."""

    requirements: tuple[RequirementResult, ...]
    classes: int
    min_class: int
    max_class: int
    pm: dict[str, float]


def verify_staged(
    scratch: Scratch, encoded: Encoded, classed: TableRef, recoded: Recoded, form: FormatSpec
) -> None:
    """Every original value lies in what is published for its row.

    Raises:
        PrivacyViolation: some row is lost or not covered; the text counts them.
    """
    found, distinct = _rows(scratch, classed, encoded.rows)
    if (found, distinct) != (encoded.rows, encoded.rows):
        raise PrivacyViolation(
            f"of {encoded.rows} rows {distinct} have a class and {found - distinct} more than one; nothing was published"
        )
    if form.kind == "anatomy":
        return  # publishes the staged values themselves; `verify_rows` compares what was written with them
    columns = [_covered(scratch, domain, recoded, form) for domain in encoded.quasi]
    if form.kind == "points":
        found_rows = scratch.fetch(
            "verify/points", classed=classed, released=recoded.released, columns=columns
        )
    else:
        # A few columns at a time: each may need joins, and planning them takes an engine more than linear time.
        found_rows = [
            scratch.fetch(
                "verify/covering",
                classed=classed,
                claimed=_claimed(scratch, recoded, some, form, at),
                columns=some,
                format=form.kind,
                contains=scratch.engine.capabilities.contains,
            )[0]
            for at, some in enumerate(_few(columns, form))
        ]
    reached = min(int(str(row[0])) for row in found_rows)
    uncovered = max(int(str(row[1])) for row in found_rows)
    if reached != encoded.rows:
        raise PrivacyViolation(
            f"{encoded.rows - reached} of {encoded.rows} rows have no class; nothing was published"
        )
    if uncovered:
        raise PrivacyViolation(
            f"{uncovered} rows are not covered by what would be published; nothing was published"
        )


def _rows(scratch: Scratch, classed: TableRef, rows: int) -> tuple[int, int]:
    """How many rows have a class, and how many of the staged rows are among them."""
    import numpy as np

    rid = scratch.engine.fetch_arrays(scratch.sql("verify/rows", classed=classed), ["int32"])[0].astype(
        np.int32
    )
    found = np.zeros(rows, dtype=np.bool_)
    found[rid[(rid >= 0) & (rid < rows)]] = True
    return len(rid), int(np.count_nonzero(found))


def _few(columns: Sequence[dict[str, object]], form: FormatSpec) -> list[Sequence[dict[str, object]]]:
    """The columns in parts: of `FEW` where they need joins, else all of them."""
    joined = form.kind == "labels" or any(
        column["kind"] != "ordered" or column["ranks"] for column in columns
    )
    size = FEW if joined else max(len(columns), 1)
    return [columns[at : at + size] for at in range(0, max(len(columns), 1), size)]


def _claimed(
    scratch: Scratch, recoded: Recoded, columns: Sequence[dict[str, object]], form: FormatSpec, part: int
) -> TableRef:
    """The released classes with a number for what each set or node says, and a table of what the numbers mean."""
    spoken = [c for c in columns if c["kind"] != "ordered" and form.kind != "suppressed"]
    said = []
    for at, column in enumerate(spoken, 1):
        name = getattr(column["names"], "value")  # noqa: B009 - names travel as objects to templates
        column["at"] = at
        column["said"] = table = scratch.table(f"said{part}_{at}")
        scratch.execute("verify/said", said=table, released=recoded.released, column=name)
        said.append({"column": name, "table": table})
    names = [name for column in columns for name in column["names"].published()]  # type: ignore[attr-defined]
    kept = [name for name in names if name not in {str(entry["column"]) for entry in said}]
    claimed = scratch.table(f"claimed{part}")
    scratch.execute("verify/claimed", claimed=claimed, released=recoded.released, kept=kept, said=said)
    return claimed


def _covered(scratch: Scratch, domain: Domain, recoded: Recoded, form: FormatSpec) -> dict[str, object]:
    reading = domain.reading
    kind = {"ordered": "ordered", "nominal": "set", "hierarchy": "tree"}[reading.treatment or "ordered"]
    names = recoded.names[domain.code]
    text = scratch.engine.capabilities.text_type
    ranks = claims = None
    if form.kind in ("ranges", "labels") and isinstance(reading.spec.ordered, tuple):
        ranks = scratch.table(f"{domain.code}_order")
        rows = ((value, rank) for rank, value in enumerate(reading.spec.ordered))
        scratch.engine.load_rows(ranks, [("value", text), ("rank", "INTEGER")], rows)
    if kind == "tree" and form.kind in ("ranges", "labels") and reading.spec.hierarchy is not None:
        claims = scratch.table(f"{domain.code}_claims")
        write = quote_node if form.kind == "labels" else str
        paths = {(path[0], write(node)) for path in reading.spec.hierarchy.levels for node in path}
        scratch.engine.load_rows(claims, [("leaf", text), ("label", text)], sorted(paths))
    elif form.kind == "labels":
        claims = scratch.table(f"{domain.code}_claims")
        statement = scratch.sql("verify/labels", released=recoded.released, column=names.value)
        labels = [str(row[0]) for row in scratch.engine.fetch(statement, max_rows=50_000_000)]
        parsed = [(parse_label(label), label) for label in labels]
        if kind == "set":
            members = [
                (value, label)
                for (what, values), label in parsed
                if what in ("value", "set")
                for value in values
            ]
            scratch.engine.load_rows(claims, [("member", text), ("label", text)], members)
        else:
            ends = [
                (values[0], values[-1], label)
                for (what, values), label in parsed
                if what in ("value", "range")
            ]
            scratch.engine.load_rows(claims, [("low", text), ("high", text), ("label", text)], ends)
    return {
        "alias": reading.alias,
        "kind": kind,
        "names": names,
        "as_text": reading.as_text,
        "type": reading.value_type,
        "claims": claims,
        "ranks": ranks,
        "said": None,
        "at": 0,
    }


def quote_node(label: str) -> str:
    """A hierarchy node in the ``labels`` format; ``*`` means any value there as well."""
    return label if label == "*" else quote(label)


def verify_physical(
    scratch: Scratch,
    encoded: Encoded,
    classed: TableRef,
    recoded: Recoded,
    physical: Relation,
    requirements: Sequence[Requirement],
) -> Verified:
    """The physical table holds the staged rows, the policy's columns, and every requirement.

    Raises:
        PrivacyViolation: what was promised does not hold; the text says which requirement and how many classes fail.
    """
    verify_rows(scratch, encoded, classed, recoded, physical)
    classes = [column.name for column in recoded.columns if column.source == "r"]
    names = [domain.reading.name for domain in encoded.sensitive]
    return measure_requirements(scratch, physical.ref, classes, names, requirements)


def verify_rows(
    scratch: Scratch, encoded: Encoded, classed: TableRef, recoded: Recoded, physical: Relation
) -> None:
    """The physical table has the policy's columns and holds the staged rows, each with what is published for its class.

    Raises:
        PrivacyViolation: it does not.
    """
    expected = [column.name for column in recoded.columns]
    found = [column.name for column in physical.columns]
    if found != expected:
        raise PrivacyViolation(
            "the released table does not have exactly the policy's columns; nothing was published"
        )
    published = [{"source": c.source, "column": c.column, "name": c.name} for c in recoded.columns]
    marks = scratch.table("marks")
    names = [column.name for column in recoded.columns if column.source == "r"]
    scratch.execute("verify/marks", marks=marks, released=recoded.released, names=names)
    staged = scratch.fetch("verify/staged", classed=classed, marks=marks, published=published)[0]
    written = scratch.fetch("verify/fingerprint", target=physical.ref, published=published)[0]
    if tuple(map(str, staged)) != tuple(map(str, written)) or int(str(written[0])) != encoded.rows:
        raise PrivacyViolation("the released rows are not the staged ones; nothing was published")


def measure_requirements(
    scratch: Scratch,
    target: TableRef,
    classes: Sequence[str],
    names: Sequence[str],
    requirements: Sequence[Requirement],
    count: str | None = None,
) -> Verified:
    """Measure every requirement over the groups of ``classes``, and refuse if one fails; see `Requirement.measure`."""
    results = []
    sizes = Sizes(0, 0, 0)
    for requirement in requirements:
        measured = requirement.measure(scratch.engine, target, classes, names, count)
        sizes = measured.sizes or sizes
        results.append(requirement.result(measured))
        if not results[-1].satisfied:
            of = f" of {requirement.column}" if requirement.column else ""
            raise PrivacyViolation(
                f"{requirement.name}{of}: asked {as_number(requirement.asked):g}, reached "
                f"{as_number(measured.reached):g}; {measured.failing} classes fail; nothing was published"
            )
    pm = _privacy(scratch, target, classes, names, results, count)
    return Verified(tuple(results), sizes.classes, sizes.smallest, sizes.largest, pm)


def _privacy(
    scratch: Scratch,
    target: TableRef,
    classes: Sequence[str],
    names: Sequence[str],
    results: Sequence[RequirementResult],
    count: str | None,
) -> dict[str, float]:
    """PM of each sensitive column: min over classes |G| / most frequent value (Ghinita et al. 2009, equation 6).

    A release of k-anonymity alone has none: its PM is the smallest class (section 2.5), and a query would cost a second pass.
    """
    if not any(result.column for result in results):
        return {}
    pm: dict[str, float] = {}
    for i, name in enumerate(names):
        # What frequency l reached is PM. The joint form of it has the same name and comes later.
        known = [result.reached for result in results if (result.name, result.column) == ("l", name)]
        pm[name] = known[0] if known else as_number(
            FrequencyDiversity(Fraction(1), name, i).measure(scratch.engine, target, classes, names, count).reached
        )  # fmt: skip
    return pm


__all__ = ["Verified", "measure_requirements", "verify_physical", "verify_rows", "verify_staged"]
