"""What is declared about a method: the dataclasses. The declarations are in `methods`, the checks in `check`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sqlanon.declared.cost import Cost
from sqlanon.spec import Execution

Goal = Literal["k", "l"]
Suppresses = Literal["no", "rows", "cap"]
Given = str | int
"""The value of an option."""

MOST_NODES = 1_000_000
"""Nodes of a lattice of levels, at most: the state of each is kept in memory, and each is looked at in turn."""


MOST_CUTS = 2000
"""Cut points of ordered columns, at most: each is looked at with every set of cuts."""


@dataclass(frozen=True, slots=True)
class Word:
    """An option that takes one word of a few.

    Attributes:
        name: as policies write it.
        words: the allowed values, the default first.
        about: what it decides, for the reference.
        shown: whether reports name it even where it has its default.
    """

    name: str
    words: tuple[str, ...]
    about: str
    shown: bool = False

    @property
    def default(self) -> str:
        """The value where the policy has none."""
        return self.words[0]

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return ", ".join(self.words)

    def read(self, text: str) -> str:
        """The value that is written as ``text``.

        Raises:
            ValueError: not an allowed one; the message does not repeat it.
        """
        if text not in self.words:
            raise ValueError("not a value known here")
        return text


@dataclass(frozen=True, slots=True)
class Whole:
    """An option that takes a whole number from ``low`` to ``high``; see `Word` for the other attributes."""

    name: str
    low: int
    high: int
    default: int
    about: str
    shown: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return f"whole numbers from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        """See `Word.read`."""
        if not re.fullmatch("[0-9]{1,18}", text) or not self.low <= int(text) <= self.high:
            raise ValueError("not a number known here")
        return int(text)


@dataclass(frozen=True, slots=True)
class Several:
    """An option that takes several methods, each with options of its own; see `Word` for the attributes.

    In a policy a list; kept as one text, which `sqlanon.declared.candidates` reads. What it names is checked by `check`.
    """

    name: str
    default: str
    about: str
    shown: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a list of methods, each as name:option=value"

    def read(self, text: str) -> str:
        """See `Word.read`."""
        return text


@dataclass(frozen=True, slots=True)
class Named:
    """An option that names a column of the policy, or nothing; see `Word` for the attributes. The method's code finds it."""

    name: str
    about: str
    default: str = ""
    shown: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a column's name"

    def read(self, text: str) -> str:
        """See `Word.read`."""
        return text


Option = Word | Whole | Several | Named


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a policy and a method do not fit.

    Attributes:
        what: what is wrong.
        allowed: what to write instead.
        option: the option of the method that it is about; empty: the method itself.
    """

    what: str
    allowed: str
    option: str = ""

    def __str__(self) -> str:
        return f"{self.what}; {self.allowed}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a policy asks of a method, as far as that is known before a database is read.

    Attributes:
        method: its name, with ``options`` as they are used: defaults included.
        k: rows in a class, at least.
        l, distinct_l: diversity of each sensitive column; None: not asked.
        more: names of further requirements that are asked.
        joint: it also holds within every value of the other sensitive columns.
        maximize: what becomes as large as a bound on the loss allows; None: nothing. The others are then the least accepted.
        quasi, sensitive: how many columns have the role.
        suppression: the share of the rows that may be suppressed; None: the policy has none.
        left_out: they are not published.
        refine: the classes are refined afterwards.
    """

    method: str
    options: Mapping[str, Given]
    k: int = 1
    l: Fraction | None = None  # noqa: E741 - the papers' symbol
    distinct_l: int | None = None
    joint: bool = False
    more: tuple[str, ...] = ()
    maximize: Goal | None = None
    quasi: int = 1
    sensitive: int = 0
    execution: Execution = "auto"
    format: str = "ranges"
    suppression: Fraction | None = None
    left_out: bool = False
    refine: bool = False

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements that a class of one row would not meet."""
        asked = {"k": self.k, "l": self.l, "distinct_l": self.distinct_l}
        return tuple(name for name, least in asked.items() if least is not None and least > 1) + self.more

    @property
    def diverse(self) -> bool:
        """Whether the classes have to meet more than a number of rows."""
        return bool(set(self.requirements) - {"k"})

    @property
    def l_alone(self) -> bool:
        """Whether frequency l of one sensitive column is all the diversity that is asked."""
        return set(self.requirements) - {"k"} == {"l"} and self.sensitive == 1


Rule = Callable[[Asked], Refused | None]
"""A combination that a method does not take; None where it is none."""


@dataclass(frozen=True, slots=True)
class Most:
    """A size that a method takes, at most.

    Attributes:
        of: what is counted: ``rows`` of the table or ``quasi columns``.
        most: how many.
        instead: what to write where there are more.
        why: the reason, for people.
        when: option and value that it is for; None: always.
    """

    of: Literal["rows", "quasi columns"]
    most: int
    instead: str
    why: str = ""
    when: tuple[str, Given] | None = None

    def refusal(self, method: str, options: Mapping[str, Given], count: int) -> Refused | None:
        """Why ``count`` are too many; None where they are not."""
        if count <= self.most or (self.when is not None and options.get(self.when[0]) != self.when[1]):
            return None
        own = f"{method}: {self.when[0]}={self.when[1]}" if self.when else method
        why = f", {self.why}" if self.why else ""
        here = f"the table has {count}" if self.of == "rows" else f"here are {count}"
        what = f"{own} takes at most {self.most} {self.of}{why}, and {here}"
        return Refused(what, f"use {self.instead}", self.when[0] if self.when else "")


@dataclass(frozen=True, slots=True)
class MethodDeclaration:
    """A published algorithm as policies know it. Its code is imported when it is run.

    Attributes:
        name: as policies write it.
        about: one sentence for the reference, with the paper.
        code: ``module:class`` of a `sqlanon.methods.base.Algorithm`, or the class itself.
        cost: how seconds and memory grow, roughly, for ``plan``.
        options: what a policy may set; the class is called with all of them by name.
        executions: the executions it has; the contract tests read this.
        requirements: names of those it can meet; None: every one that has a tally for kernels.
        maximizes: what it can make as large as a bound on the loss allows.
        formats: those its classes can be published in; None: every one.
        suppresses: what it does with a policy's ``suppression``: ``no``: refuses it; ``rows``: suppresses rows within the limit, of
            either kind; ``cap``: hides values, and the limit caps the rows that lose all of them (without the key: any number).
        limits: sizes that it takes, at most.
        rules: further combinations that it does not take.
        instead: methods that take what this one does not, for messages.
    """

    name: str
    about: str
    code: str | type[Any]
    cost: Cost
    options: tuple[Option, ...] = ()
    executions: tuple[Execution, ...] = ("kernel", "pushdown")
    requirements: tuple[str, ...] | None = None
    maximizes: tuple[Goal, ...] = ()
    formats: tuple[str, ...] | None = None
    suppresses: Suppresses = "no"
    limits: tuple[Most, ...] = ()
    rules: tuple[Rule, ...] = ()
    instead: str = "tree, hilbert or mondrian"

    def __post_init__(self) -> None:
        if len({option.name for option in self.options}) < len(self.options):
            raise ValueError(f"method {self.name} declares an option twice")

    @property
    def words(self) -> Mapping[str, tuple[str, ...]]:
        """Its options that take a word, with the allowed ones, the default first."""
        return {option.name: option.words for option in self.options if isinstance(option, Word)}

    @property
    def numbers(self) -> Mapping[str, range]:
        """Its options that take a number, with those allowed."""
        return {o.name: range(o.low, o.high + 1) for o in self.options if isinstance(o, Whole)}

    def option(self, name: str) -> Option | None:
        """The option of this name; None where there is none."""
        return next((option for option in self.options if option.name == name), None)

    def values(self, options: Mapping[str, str]) -> dict[str, Given]:
        """All options with their values: those that are given, and the defaults of the others; `check` has read them."""
        return {
            option.name: option.read(options[option.name]) if option.name in options else option.default
            for option in self.options
        }

    def describe(self, options: Mapping[str, str]) -> str:
        """The method with the options that reports name: ``tree:minimize=gcp``."""
        values = self.values(options)
        shown = [o.name for o in self.options if o.shown or values[o.name] != o.default]
        return self.name + (":" if shown else "") + ",".join(f"{name}={values[name]}" for name in shown)
