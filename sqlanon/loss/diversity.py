"""Metrics of the sensitive values in a class, asked for by name. A class is a group of rows that readers see as one."""

from __future__ import annotations

from sqlanon.loss.facts import Facts, OfValue


class Classification:
    """CM (Iyengar 2002), from 0 to 1.

    It is the share of rows that are suppressed or lack their class's most frequent sensitive value.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        assert value is not None
        return value.classification


class EntropyOfClasses:
    """Mean over classes of the entropy of their sensitive values, in bits (Goldberger & Tassa 2010, Table 3).

    Rows that are left out count in no class.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        assert value is not None
        classes, entropies, _ = value.group_entropies
        return max(entropies, 0.0) / classes


class EntropyOfRows:
    """Mean over rows of the entropy of their class's sensitive values, in bits.

    A row that is left out counts with the entropy of the source.
    """

    def of(self, facts: Facts, value: OfValue | None) -> float:
        assert value is not None
        *_, entropies = value.group_entropies
        return (max(entropies, 0.0) + facts.lost.left_out * value.entropy) / facts.rows
