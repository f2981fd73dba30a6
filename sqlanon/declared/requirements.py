"""Requirements as policies know them: the key under `privacy`, what it takes, and where the code is.

Every list of requirements outside `sqlanon.privacy` is read from here: policies, catalog, differences between policies,
history, reports and docs. The dbt package, which needs no sqlanon, has a macro of each (`dbt/macros`); a test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlanon.declared.parameters import Alpha, Beta, Closeness, Delta, Likeness, Map, Presence, Recursive
from sqlanon.declared.records import ByColumn, Part, Record
from sqlanon.declared.registry import Registry
from sqlanon.declared.values import Listing, Number, OneOf, TableName, Value
from sqlanon.lack import UNDECLARED, Able, never, notimpl


@dataclass(frozen=True, slots=True)
class RequirementDeclaration:
    """A requirement as policies know it. What it lacks of ``joint`` and ``tally`` is a marker with the reason (`sqlanon.lack`).

    Attributes:
        name: the key under `privacy`, and the name in reports.
        about: what it asks for, for the reference and for editors.
        code: ``module:class`` of a `sqlanon.privacy.base.Requirement`, or the class itself.
        value: what the key takes.
        at_most: a smaller value asks for more.
        sensitive: sensitive columns that it needs, at least.
        persons: identifiers without `accept_repeats` that it needs, at least, in a release with `rows_are: events`: it counts
            the persons that they name.
        joint: `joint` asks for it within every value of the other sensitive columns as well.
        tally: kernels can count it; else only methods that name it take it.
        monotone: the union of classes that each meet it meets it, whatever they hold and in whatever table they are; methods that
            merge classes, or that look for the finest of nested divisions, may rely on it. A function says it of a value.
        compares: classes are compared with all published rows, so that none may be left out: that would change what is compared.
        population: classes are compared with a table of the population, which the value names as ``population``; only methods that say so
            take it, and it may be asked for without k.
        nothing: the value that asks for nothing; None: there is none.
        of_persons: with `person` it is asked of persons as well, in every form; else it cannot be asked with it.
    """

    name: str
    about: str
    code: str | type[Any]
    value: Value
    at_most: bool = False
    sensitive: int = 1
    persons: int = 0
    joint: Able = UNDECLARED
    tally: Able = True
    monotone: bool | Callable[[Any], bool] = True
    compares: bool = False
    population: bool = False
    nothing: Any = None
    of_persons: bool = False

    def unites(self, asked: object) -> bool:
        """Whether it is monotone where this is asked."""
        return self.monotone(asked) if callable(self.monotone) else self.monotone

    def weaker(self, old: object, new: object) -> bool:
        """Whether ``new`` asks for less than ``old``; both as the catalog keeps them, None: not asked."""
        if old is None or new is None:
            return old is not None
        before, after = self.value.read(old), self.value.read(new)
        if isinstance(self.value, ByColumn):
            return self.value.weaker(before, after, self.at_most)
        if isinstance(self.value, Record):
            return self.value.weaker(before, after)
        return bool(after > before if self.at_most else after < before)


_ROWS = never("it counts rows, not values")
_SHARES = notimpl("shares of the release within each value of another column are not counted")
_NO_TALLY = notimpl("no tally counts the rows of a population")


def _absent_violates(asked: Any) -> bool:  # noqa: ANN401 - a value of delta_disclosure
    """Whether a class may lack no value, of no column."""
    return all(one.absent == "violates" for one in _each(asked))


def _each(asked: Any) -> list[Any]:  # noqa: ANN401 - a value by column
    """The values of all columns."""
    return list(asked.values()) if isinstance(asked, Mapping) else [asked]


REQUIREMENTS: Registry[RequirementDeclaration] = Registry(
    "requirement",
    (
        RequirementDeclaration(
            name="k",
            about="Rows in a class, at least; 1 publishes rows as they are. Required, except with `maximize` (see "
            "`at_least`), with the format anatomy, and beside a requirement over a population.",
            code="sqlanon.privacy.kanonymity:KAnonymity",
            value=Number(Fraction(1), whole=True),
            sensitive=0,
            joint=_ROWS,
            nothing=1,
        ),
        RequirementDeclaration(
            name="l",
            about="Frequency l-diversity: no value of a sensitive column makes up more than 1/l of a class. "
            'A number of at least 1 or a fraction such as "5/2".',
            code="sqlanon.privacy.diversity:FrequencyDiversity",
            value=Number(Fraction(1)),
            joint=True,
        ),
        RequirementDeclaration(
            name="distinct_l",
            about="Different values of each sensitive column in a class, at least.",
            code="sqlanon.privacy.diversity:DistinctDiversity",
            value=Number(Fraction(1), whole=True),
            joint=True,
        ),
        RequirementDeclaration(
            name="entropy_l",
            about="Entropy l-diversity: the entropy of a sensitive column in a class is at least that of l equally frequent values.",
            code="sqlanon.privacy.entropy:EntropyDiversity",
            value=ByColumn(Number(Fraction(1))),
            joint=True,
            of_persons=True,
        ),
        RequirementDeclaration(
            name="recursive_cl",
            about="Recursive (c, l)-diversity: the most frequent value of a sensitive column is rarer in a class than c times all values "
            "from the l-th most frequent one on, together. `{c: 3, l: 2}`.",
            code="sqlanon.privacy.recursive:RecursiveDiversity",
            value=ByColumn(
                Record(
                    Recursive,
                    {
                        "c": Part(Number(Fraction(0), above=True), at_most=True),
                        "l": Part(Number(Fraction(1), Fraction(1000), whole=True)),
                    },
                )
            ),
            joint=True,
            of_persons=True,
        ),
        RequirementDeclaration(
            name="alpha",
            about="(alpha, k)-anonymity: no value of a sensitive column, or none of those that are listed, makes up more than this share "
            "of a class. `0.5`, or `{max: 0.5, values: [HIV]}`.",
            code="sqlanon.privacy.alpha:Alpha",
            value=ByColumn(
                Record(
                    Alpha,
                    {
                        "max": Part(Number(Fraction(0), Fraction(1), above=True), at_most=True),
                        "values": Part(Listing(), default=()),
                    },
                    "max",
                )
            ),
            at_most=True,
            joint=True,
            of_persons=True,
        ),
        RequirementDeclaration(
            name="t",
            about="t-closeness: the earth mover's distance between the values of a sensitive column in a class and in the release is at most t. "
            "`0.3`, or `{max: 0.2, distance: ordered}`; by column `{diagnosis: 0.3, cost: {max: 0.2, distance: ordered}}`.",
            code="sqlanon.privacy.closeness:TCloseness",
            compares=True,
            joint=_SHARES,
            value=ByColumn(
                Record(
                    Closeness,
                    {
                        "max": Part(Number(Fraction(0), Fraction(1)), at_most=True),
                        "distance": Part(OneOf(("equal", "ordered", "hierarchical")), default="equal"),
                    },
                    "max",
                )
            ),
            at_most=True,
            of_persons=True,
        ),
        RequirementDeclaration(
            name="beta",
            about="beta-likeness: no value's share of a class exceeds its share of the release by more than beta times that share "
            "(`{basic: 2}`), nor by more than -ln of it (`{enhanced: 2}`).",
            code="sqlanon.privacy.beta:BetaLikeness",
            compares=True,
            joint=_SHARES,
            value=ByColumn(
                Likeness(
                    Beta,
                    {
                        "kind": Part(OneOf(("enhanced", "basic"))),
                        "max": Part(Number(Fraction(0), above=True), at_most=True),
                    },
                )
            ),
            at_most=True,
            of_persons=True,
        ),
        RequirementDeclaration(
            name="delta_disclosure",
            about="delta-disclosure privacy: the logarithm, to base 2, of a value's share of a class by its share of the release is nearer to 0 "
            "than delta. A class that lacks a value violates it; `{max: 1.5, absent: ignored}` looks at the values that it has.",
            code="sqlanon.privacy.delta:DeltaDisclosure",
            compares=True,
            joint=_SHARES,
            value=ByColumn(
                Record(
                    Delta,
                    {
                        "max": Part(Number(Fraction(0), above=True), at_most=True),
                        "absent": Part(OneOf(("violates", "ignored")), default="violates"),
                    },
                    "max",
                )
            ),
            at_most=True,
            monotone=_absent_violates,
            of_persons=True,
        ),
        RequirementDeclaration(
            name="k_map",
            about="k-map: every published cell holds at least k rows of a population table, in which the source is. "
            "`{k: 10, population: public.register}`.",
            code="sqlanon.privacy.k_map:KMap",
            value=Record(Map, {"k": Part(Number(Fraction(1), whole=True)), "population": Part(TableName())}),
            sensitive=0,
            joint=_ROWS,
            tally=_NO_TALLY,
            population=True,
        ),
        RequirementDeclaration(
            name="delta_presence",
            about="delta-presence: for every row of a population table the probability of being in the source is from min to max. "
            "`{min: 0.1, max: 0.5, population: public.register}`; min is 0 where it is left out.",
            code="sqlanon.privacy.delta_presence:DeltaPresence",
            value=Record(
                Presence,
                {
                    "min": Part(Number(Fraction(0), Fraction(1)), default=Fraction(0)),
                    "max": Part(Number(Fraction(0), Fraction(1), above=True), at_most=True),
                    "population": Part(TableName()),
                },
            ),
            sensitive=0,
            joint=_ROWS,
            tally=_NO_TALLY,
            population=True,
        ),
    ),
    "sqlanon.requirements",
)
"""Every requirement by its key; `k` first, so that what counts rows is measured first."""
