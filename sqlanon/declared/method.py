"""The declaration of a method. Declarations are next to the code of each method, the checks in `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlanon.declared.cost import Cost
from sqlanon.declared.method_options import Given, Option, Whole, Word
from sqlanon.declared.request import Goal, Refusal, Rule
from sqlanon.lack import UNDECLARED, Able, Lack, never
from sqlanon.spec import Execution

NO_GAIN = never(
    "it would not help: with 5 % of the rows dropped tree keeps the others at a loss of 0.0488 instead of 0.0600, and "
    "loses 0.0963 in all, as a dropped row has lost everything"
)
"""Why methods that divide all rows suppress none."""


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """A size that a method takes, at most.

    Attributes:
        of: the unit: ``rows`` of the table or ``quasi columns``.
        most: how many.
        instead: advice where there are more.
        why: the reason, for people.
        when: option and value that it is for; None: always.
    """

    of: Literal["rows", "quasi columns"]
    most: int
    instead: str
    why: str = ""
    when: tuple[str, Given] | None = None

    def refusal(
        self, method: str, options: Mapping[str, Given], count: int, explicit: Mapping[str, str] | None = None
    ) -> Refusal | None:
        """Why ``count`` are too many; None if they are not.

        ``explicit``: the options in the policy; without it, all.
        """
        if count <= self.most or (self.when is not None and options.get(self.when[0]) != self.when[1]):
            return None
        subject = method
        if self.when:
            default = explicit is not None and self.when[0] not in explicit
            subject = f"{method}: without {self.when[0]} it" if default else f"{method}: {self.when[0]}={self.when[1]}"
        why = f", {self.why}" if self.why else ""
        here = f"the table has {count}" if self.of == "rows" else f"here are {count}"
        what = f"{subject} takes at most {self.most} {self.of}{why}, and {here}"
        return Refusal(what, f"use {self.instead}", self.when[0] if self.when else "")


@dataclass(frozen=True, slots=True)
class MethodDeclaration:
    """A published algorithm as policies know it. The code is imported when it is run.

    A missing ability is a marker with the reason (`sqlanon.lack`) where there is True, or a value, for a method that
    has it.

    Attributes:
        name: as policies write it.
        about: a sentence for the reference, with the paper.
        code: ``module:class`` of a `sqlanon.methods.base.Algorithm`, or the class itself.
        cost: how seconds and memory grow, roughly, for ``plan``.
        options: settings for policies; the class is called with all of them by name.
        pushdown: it can be run as SQL, besides as a kernel; both give the same classes. Of a method that runs others:
            those of them that can.
        requirements: names of those it can meet; None: every requirement that has a tally for kernels.
        other_requirements: why it meets no others.
        maximizes: requirements that it can make as large as a bound on the loss allows.
        formats: those the classes can be published in; None: every format.
        other_formats: why it takes no others.
        suppresses: use of a policy's ``suppression``: ``rows``: suppresses rows within the limit, of either kind;
            ``cap``: hides values, and the limit caps the rows that lose all of them (without the key: any
            number).
        own_boxes: it makes matchings of rows and boxes, not classes; a policy must accept that.
        persons: it takes requirements over persons, which need not be monotone: it looks at every class that it makes.
        whole: it may be given persons in place of their rows, each with the least and the greatest code of its rows: of
            its results the classes alone are then used.
        in_blocks: parts that an engine's workers can divide separately: blocks of near rows along a curve, or the open
            partitions below levels of cuts that are made by SQL; None: it needs all rows at once.
        population: it takes requirements that compare classes with a population (`RequirementDeclaration.population`).
        limits: sizes that it takes, at most.
        rules: further combinations that it does not take.
        unites: it may unite classes without a look at the union, so that it takes monotone requirements alone.
        instead: methods for the requests that this method does not take, for messages.
        first_alone: an option and the value with which, of a large table, the first of the methods that it runs is run
            alone; None: all are run.
        after: of an extension, the method behind which lists name it; empty: the last method.
        replaces: option and word of the method ``after`` that it replaces; without the word, every word.
    """

    name: str
    about: str
    code: str | type[Any]
    cost: Cost
    options: tuple[Option, ...] = ()
    pushdown: Able = True
    requirements: tuple[str, ...] | None = None
    other_requirements: Lack = UNDECLARED
    maximizes: tuple[Goal, ...] | Lack = UNDECLARED
    formats: tuple[str, ...] | None = None
    other_formats: Lack = UNDECLARED
    suppresses: Literal["rows", "cap"] | Lack = NO_GAIN
    own_boxes: bool = False
    persons: Able = UNDECLARED
    whole: Able = UNDECLARED
    in_blocks: Literal["curve", "levels"] | None = None
    population: Able = UNDECLARED
    limits: tuple[SizeLimit, ...] = ()
    rules: tuple[Rule, ...] = ()
    unites: bool = False
    first_alone: tuple[str, Given] | None = None
    instead: str = "tree, hilbert or mondrian"
    after: str = ""
    replaces: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len({option.name for option in self.options}) < len(self.options):
            raise ValueError(f"method {self.name} declares an option twice")

    @property
    def executions(self) -> tuple[Execution, ...]:
        """The executions it has."""
        return ("kernel", "pushdown") if self.pushdown else ("kernel",)

    @property
    def words(self) -> Mapping[str, tuple[str, ...]]:
        """Options that take a word, with the allowed ones, the default first."""
        return {option.name: option.words for option in self.options if isinstance(option, Word)}

    @property
    def numbers(self) -> Mapping[str, range]:
        """Options that take a number, with those allowed."""
        return {o.name: range(o.low, o.high + 1) for o in self.options if isinstance(o, Whole)}

    def option(self, name: str) -> Option | None:
        """The option of this name; None where there is none."""
        return next((option for option in self.options if option.name == name), None)

    def values(self, options: Mapping[str, str]) -> dict[str, Given]:
        """All options with their values: the given ones, and the defaults of the others.

        `check` has validated the given values.
        """
        return {
            option.name: option.read(options[option.name]) if option.name in options else option.default
            for option in self.options
        }

    def describe(self, options: Mapping[str, str]) -> str:
        """The method with the options that reports name: ``tree:minimize=gcp``."""
        values = self.values(options)
        shown = [o.name for o in self.options if o.shown or values[o.name] != o.default]
        return self.name + (":" if shown else "") + ",".join(f"{name}={values[name]}" for name in shown)
