"""Metrics of mutual information, asked for by name, in bits (Goldberger & Tassa 2010, sections 4 and 5).

Columns are taken as independent, and count alike. F(R) are the rows of the source with a value in the cell R, F(R,
s) those of them with the sensitive value s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlanon.loss.facts import Facts, OfValue


class MILoss:
    """MI = (1/nr) sum over cells of log2 F(R) / F({v}), v the source's value (equation 10).

    At least 0, at most the mean entropy of the columns; 0 where every value is published as it is.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        lost = sum(facts.cells.bits) - sum(facts.source_bits)
        return max(lost, 0.0) / (facts.rows * len(facts.quasi))  # rounding alone is below 0


class PMILoss:
    """PMI = -(1/nr) sum over cells of log2 F(R, s) / F(R), s the row's sensitive value (equation 14); at least 0."""

    def of(self, facts: Facts, value: OfValue | None) -> float:
        assert value is not None
        return max(sum(value.open), 0.0) / (facts.rows * len(facts.quasi))


class PMILost:
    """PMI of the release minus that of the source (section 5.1), the loss by generalization.

    It is negative if generalization hid outliers.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        assert value is not None
        return (sum(value.open) - sum(value.source_open)) / (facts.rows * len(facts.quasi))


class PMIMaximum:
    """max over columns of I(Y; R_j), the information of column j on the sensitive value (equations 11 and 15).

    Larger is better.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        assert value is not None
        return max(_informations(facts, value))


class PMIRoot:
    """The root of the mean over columns of I(Y; R_j)^2 (equation 16). Larger is better.

    The paper writes 1/r before the root, which is less than the mean it is to exceed: here the mean is under the root,
    so that it lies between equation 12 and equation 15.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        assert value is not None
        each = _informations(facts, value)
        return math.sqrt(sum(value * value for value in each) / len(each))


def _informations(facts: Facts, value: OfValue) -> Sequence[float]:
    """I(Y; R_j) = H(Y) - (1/n) sum over rows of -log2 F_j(R, s) / F_j(R) (equation 11), by column."""
    return [value.entropy - bits / facts.rows for bits in value.open]
