"""Requirements of a release: the level asked and the level reached of each."""

from __future__ import annotations

from collections.abc import Iterable

from sqlanon.declared import REQUIREMENTS
from sqlanon.report.document import Block, Section, Text, make_table
from sqlanon.results import RunReport
from sqlanon.results.figures import count, measure


def report_asked(run: RunReport) -> Section:
    """As verification measured it on the published table, before anybody could read it."""
    rows = [
        (
            requirement.title,
            measure(requirement.asked),
            measure(requirement.reached),
            "met" if requirement.satisfied else "NOT MET",
        )
        for requirement in run.requirements
    ]
    failed = frozenset(index for index, requirement in enumerate(run.requirements) if not requirement.satisfied)
    blocks: list[Block] = [
        make_table("Requirements", "requirement | >asked | >reached | result", rows, failed)
        if rows
        else Text("The policy asks for nothing: rows are published as they are.", warning=True)
    ]
    pairs = []
    if run.min_identifiers:
        pairs += [
            (f"fewest different values of {name} in a class", count(n)) for name, n in run.min_identifiers.items()
        ]
    if run.max_person_share is not None:
        pairs.append(("largest part of a class that is one person's", measure(run.max_person_share)))
    if pairs:
        blocks.append(make_table("Persons in a class", "figure | >measured", pairs))
    blocks += [Text(warning, warning=True) for warning in run.warnings]
    return Section(
        "asked",
        "What was asked, and what was reached",
        f"Each requirement of the policy, with {run.shape.measured}. It was measured on the written table by queries "
        "of their own, before the release was visible; a release that misses one is not published.",
        tuple(blocks),
        list_meanings((requirement.name for requirement in run.requirements), own_boxes=not run.shape.grouped),
    )


def list_meanings(names: Iterable[str], *, own_boxes: bool) -> tuple[tuple[str, str], ...]:
    """Explanation of each requirement; ``own_boxes``: every row has a box of its own."""
    reading = {**READING, "k": CANDIDATES} if own_boxes else READING
    return tuple(
        (name, reading.get(name) or REQUIREMENTS[name].about)
        for name in dict.fromkeys(names)
        if name in reading or name in REQUIREMENTS
    )


CANDIDATES = (
    "At least this many rows fit every box, and every row fits as many boxes: each is as likely to be its own as the "
    "others, for a reader who cannot relate private values to the columns that could identify somebody. Larger "
    "protects more."
)
"""Meaning of k where every row has a box of its own."""


READING = {
    "k": "Every person hides among at least this many rows that look alike. Larger protects more.",
    "l": "In no class is one value more than 1/l of the rows, so that a reader who finds a person's class is right "
    "about the value in at most one of l cases. 1 means that somewhere the value is certain. Larger protects more.",
    "distinct_l": "Different values in every class, at least. It does not limit how frequent one of them is. Larger "
    "protects more.",
    "entropy_l": "A class is as uncertain as one of so many equally frequent values. Larger protects more.",
    "recursive_cl": "The most frequent value is rarer than c times all values from the l-th on together. A larger l "
    "protects more.",
    "alpha": "The largest share that one value has in a class: how sure a reader can be. Smaller protects more.",
    "t": "How far the values of a class are from those of the whole release, 0 (the same) to 1. Smaller protects more.",
    "beta": "By how much a value becomes likelier for who knows the class, as a multiple of its share of the release. "
    "Smaller protects more.",
    "delta_disclosure": "The largest factor between a value's share of a class and of the release, as a power of 2. "
    "Smaller protects more.",
    "k_map": "Every published cell fits at least this many persons of the population. It protects who is not known to "
    "be in the table; who is known to be in it is protected by k alone. Larger protects more.",
    "delta_presence": "How likely a person of the population is in the table, for a reader who knows the population: "
    "at most, and 'least' at least. It hides who is in the table, and says nothing of sensitive values. Smaller at "
    "most, and larger at least, protect more.",
}
"""Requirements in the words of who decides on a release; others have those of their declaration."""
