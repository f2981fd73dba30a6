"""Metrics of how many values a cell may be, asked for by name: AM, LM by values, and the level in the hierarchy.

R is a cell, |R| the values of the domain in it; |A| those of the domain, the leaves of a hierarchy's file among them.
NULL is a value.
"""

from __future__ import annotations

from sqlanon.loss.facts import Facts, OfValue


class Ambiguity:
    """Ambiguity AM (Goldberger & Tassa 2010, equation 4, of Nergiz & Clifton).

    AM = (1/n) sum over rows of the product over columns of |R|.

    At least 1. Products above e^700 count as that.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        return facts.cells.combinations / facts.rows


class LossOfValues:
    """Loss metric LM (Goldberger & Tassa 2010, equation 3), from 0 to 1.

    LM = mean over cells of (|R| - 1) / (|A| - 1), with distinct values of numbers.

    LM of `sqlanon.loss.box_metrics` measures numbers by their range, weights columns, and has no value NULL. |A| = 1
    gives 0.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        return sum(facts.cells.values) / (facts.rows * len(facts.quasi))


class Level:
    """Mean over cells of level / height (Aggarwal et al. 2005, in Goldberger & Tassa 2010, section 3); 0 to 1.

    The level is that of the node which is published. A column without a hierarchy has the value, 0, and anything else,
    1.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        return sum(facts.cells.levels) / (facts.rows * len(facts.quasi))
