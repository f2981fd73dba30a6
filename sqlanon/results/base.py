"""Common parts of the reports of all commands: JSON form, requirements and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, cast

from sqlanon.results import notebook
from sqlanon.results.figures import count, join_names, measure


@lru_cache(maxsize=256)
def _names(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass; None for other classes."""
    return tuple(item.name for item in fields(kind)) if hasattr(kind, "__dataclass_fields__") else None


def to_plain(value: object) -> object:
    """Dataclasses as dictionaries on all levels, like `dataclasses.asdict`, without a deep copy of every cell."""
    if isinstance(value, str | int | float) or value is None:
        return value
    names = _names(type(value))  # type: ignore[arg-type]
    if names is not None:
        return {name: to_plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(to_plain, value))
    return value


class Report:
    """A result with a JSON form."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries, lists, numbers and text."""
        return cast("dict[str, Any]", to_plain(self))


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """A requirement as asked and as reached over all classes; ``column`` is None for k.

    ``joint``: it was measured within every combination of the other sensitive columns.
    """

    name: str
    column: str | None
    asked: float
    reached: float
    satisfied: bool
    joint: bool = False

    @property
    def title(self) -> str:
        """As reports name it."""
        of = f"{self.name} of {self.column}" if self.column else self.name
        return f"{of}, jointly" if self.joint else of


@dataclass(frozen=True, slots=True)
class Exposure:
    """The risk of who knows values of the columns that are published as they are, besides those of the quasi columns.

    Attributes:
        k: rows of the smallest group that is equal in every published column but the sensitive ones.
        alone: rows that no other row equals there; ``rows`` of them all.
        rows: see there.
        columns: those that are published as they are.
        groups: how many such groups there are; 0: not counted (versions before 0.2, and boxes of their own).
        persons: the fewest persons of any group; None: every row is a person, or they were not counted.
    """

    k: int
    alone: int
    rows: int
    columns: tuple[str, ...]
    groups: int = 0
    persons: int | None = None

    def warning(self, k: int) -> str | None:
        """The warning for the owner where these columns undo k; None: they do not."""
        if self.k >= k or not self.columns:
            return None
        names, single = join_names(self.columns), len(self.columns) == 1
        as_they_are = "is published as it is" if single else "are published as they are"
        alone = f"{self.alone:,} of {self.rows:,} rows are alone" if self.alone else f"{self.k} rows are alike"
        pronoun = "it" if single else "them"
        return (
            f"{names} {as_they_are}, and nothing else hides {pronoun}: with {pronoun} {alone} (k {self.k}, not {k}). "
            "Who knows such a value of a person finds the row; make the column quasi, or an identifier, if "
            "somebody may know it"
        )


@dataclass(frozen=True, slots=True)
class LossReport:
    """Information loss of a release; every definition is in the room `sqlanon.loss`.

    Attributes:
        ncp, gcp, lm: means over rows, 0 to 1.
        dm, c_avg: from the sizes of classes alone; ``c_avg`` compares with the k of the policy and is None without
            k.
        il1, il_inf, il_sum: NCP of the classes: mean, largest, sum.
        weighted_max_ncp: largest rows x NCP of a class.
        avg_ncp: as ``il1``, every column weighing the same.
        weighted_avg_volume: mean over rows of the product of the columns' NCP.
        columns: each quasi column's ``ncp`` and ``lm``, averaged over the source's rows, unweighted; in format
            suppressed also the share of ``hidden`` values.
        more: the metrics that the policy's `metrics` asks for, and those that extensions add, by name.
        sensitive: of those that are asked for, the ones about sensitive columns: by column, then by name.
        cm: share of rows that lack their class's most frequent sensitive value, or are suppressed; where rows are
            suppressed or levels are published, and there is a single sensitive column; else None.
        stars, starred_rows, hidden_rows: format suppressed: cells that hide a value, rows with such a cell, and rows
            with such cells alone; None for the others.
        rce: loss of format anatomy; None for the others. It keeps the quasi columns exact, so that their losses are
            0.
    """

    ncp: float
    gcp: float
    dm: float
    c_avg: float | None
    lm: float
    il1: float
    il_inf: float
    il_sum: float
    weighted_max_ncp: float
    avg_ncp: float
    weighted_avg_volume: float
    columns: Mapping[str, Mapping[str, float]]
    rce: float | None = None
    cm: float | None = None
    stars: int | None = None
    starred_rows: int | None = None
    hidden_rows: int | None = None
    more: Mapping[str, float] = field(default_factory=dict)
    sensitive: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """As notebooks show it: the losses that screens show."""
        return notebook.block("information loss (0 is exact, 1 is all lost)", loss_html(self))


def requirements_html(results: Sequence[RequirementResult]) -> str:
    """Requirements, as notebooks show them."""
    rows = [
        (
            requirement.title,
            measure(requirement.asked),
            measure(requirement.reached),
            "yes" if requirement.satisfied else "NO",
        )
        for requirement in results
    ]
    wrong = [i for i, requirement in enumerate(results) if not requirement.satisfied]
    return notebook.table(("requirement", ">asked", ">reached", "satisfied"), rows, wrong)


def loss_html(loss: LossReport) -> str:
    """A loss, as notebooks show it."""
    whole = [("GCP", f"{loss.gcp:.4f}"), ("DM", count(round(loss.dm)))]
    if loss.c_avg is not None:
        whole.append(("C_AVG", f"{loss.c_avg:.3f}"))
    columns = [(name, f"{parts['ncp']:.4f}", f"{parts['lm']:.4f}") for name, parts in loss.columns.items()]
    return notebook.facts(whole) + notebook.table(("column", ">NCP", ">LM"), columns)
