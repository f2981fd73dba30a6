"""The keyword arguments of `Database.anonymize` and `sqlanon.anonymize`, for type checkers.

Names and types are those of `arguments`, which a test compares; what they mean is in docs/policy.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Required, TypedDict

from sqlanon.declared.arguments import Asked, Boxes, FileName, Goal, Names, Number, Presence
from sqlanon.spec import Execution, FormatKind, NullPerson, Persons, Rest, RowsAre, RowSecurity


class FileOptions(TypedDict, total=False):
    """What a release of a file may be asked for."""

    quasi: Required[Names]
    sensitive: Names | None
    identifiers: Names | None
    pseudonyms: Names | None
    insensitive: Names | None
    rest: Rest
    k: int | None
    l: Number | None  # noqa: E741 - the papers' symbol
    distinct_l: int | None
    entropy_l: Asked | None
    recursive_cl: str | Mapping[str, object] | None
    alpha: Asked | None
    t: Asked | None
    beta: str | Mapping[str, object] | None
    delta_disclosure: Asked | None
    k_map: str | Mapping[str, object] | None
    delta_presence: str | Mapping[str, object] | None
    requirements: Mapping[str, object] | None
    joint: bool
    max_loss: Number | None
    max_extent: Mapping[str, Number] | None
    maximize: Goal | None
    at_least: Mapping[str, Number] | None
    presence: Presence | None
    boxes: Boxes | None
    hierarchies: Mapping[str, FileName | Mapping[str, object]] | None
    ordered: Mapping[str, FileName | Sequence[str]] | None
    bottom: Mapping[str, Number | date] | None
    top: Mapping[str, Number | date] | None
    round: Mapping[str, Number] | None
    weights: Mapping[str, int] | None
    method: str | Mapping[str, object]
    refine: bool | Mapping[str, int] | None
    suppression: Mapping[str, Number] | None
    format: FormatKind | Mapping[str, object]
    mean: Names | None
    metrics: Names | None
    execution: Execution
    memory: int | str | None
    seed: int | None
    rows_are: RowsAre
    person: Names | None
    persons: Persons | None
    null_person: NullPerson | None
    person_share: Number | None
    row_security: RowSecurity | None
    accept_unique: Names | None
    accept_repeats: Names | None
    scopes: Mapping[str, str] | None
    secrets: Mapping[str, str] | None
    name: str | None
    readers: Names | None
    dimensions: Names | None
    key: Names | None
    every: str | None
    keep: int
    max_failing: int | None


class AnonymizeOptions(FileOptions, total=False):
    """What a release of a table may be asked for: also where it is published."""

    publish: str | None
    publish_file: FileName | None
