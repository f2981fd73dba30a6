"""A requirement of an extension: (alpha, k)-anonymity (Wong, Li, Fu and Wang 2006).

No sensitive value above share alpha.

Its declaration, its tally for kernels, its groups in SQL and its own query: all that an extension writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from sqlanon.declared import Number, RequirementDeclaration
from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement
from sqlanon.spec import PrivacySpec
from sqlanon.sqltext import add_template, statement
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.kernels.tally import CompiledFunction, Flags, Ints, Longs, Reals, Tally

add_template(
    "share/below",
    """\
-- name: share/below
-- params: made (table to make), rows (table), groups (columns), value (column), count (column or none), p, q
-- returns: the columns of groups: every group in which a value's rows times q exceed all rows times p
CREATE {{ made | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}v.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM (
    SELECT {% for name in groups %}t.{{ name | ident }} AS {{ name | ident }}, {% endfor %}
        {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
    FROM {{ rows | table }} AS t
    GROUP BY {% for name in groups %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
) AS v
GROUP BY {% for name in groups %}{{ ", " if not loop.first }}v.{{ name | ident }}{% endfor %}

HAVING MAX(v.n) * {{ q }} > SUM(v.n) * {{ p }}
""",
)
add_template(
    "share/measure",
    """\
-- name: share/measure
-- params: target (table), classes (column names), value (column), count (column or none)
-- returns: per class: most bigint (rows of its most frequent value), n bigint (its rows)
SELECT CAST(MAX(s.most) AS BIGINT) AS most, CAST(MAX(s.n) AS BIGINT) AS n
FROM (
    SELECT {% for name in classes %}t.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}
        {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS most
        , SUM({{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }}) OVER (
            {% if classes %}PARTITION BY
            {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}{% endif %}
        ) AS n
    FROM {{ target | table }} AS t
    GROUP BY {% for name in classes %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
) AS s
{% if classes %}GROUP BY {% for name in classes %}{{ ", " if not loop.first }}s.g{{ loop.index }}{% endfor %}{% endif %}
""",
)


def add_share(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """bounds: p, q of alpha = p / q; counts: rows, most frequent, rows of each value."""
    begin = 0
    for s in range(len(ends)):
        for at in range(begin, ends[s]):
            counts[0] += 1
            counts[2 + items[at]] += 1
            counts[1] = max(counts[1], counts[2 + items[at]])
        begin = ends[s]
        if counts[1] * bounds[1] > counts[0] * bounds[0]:
            holds[s] = False


def clear_share(items: Ints, _: Longs, __: Reals, counts: Longs, ___: Reals) -> None:
    """Zero what the rows counted."""
    counts[0] = 0
    counts[1] = 0
    for value in items:
        counts[2 + value] = 0


@cache
def compiled() -> tuple[CompiledFunction, CompiledFunction]:
    """Both for kernels, and kept on disk.

    Here and not above, as policies that are read import this file, and no compiler.
    """
    from sqlanon.kernels.tally import adding, clearing

    return adding(add_share), clearing(clear_share)


@dataclass(frozen=True, slots=True)
class Share(Requirement):
    """No value of ``column`` is more than ``asked`` of a class."""

    name: ClassVar[str] = "max_share"
    asked: Fraction
    column: str
    value: int

    @classmethod
    def from_policy(cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]) -> Sequence[Share]:
        """One per sensitive column."""
        asked = privacy.value("max_share")
        return [] if asked is None else [cls(asked, name, i) for i, name in enumerate(sensitive)]

    def tally(self, coded: Coded) -> Tally:
        """See `Requirement.tally`."""
        import numpy as np

        from sqlanon.kernels.tally import Tally

        bounds = np.array([self.asked.numerator, self.asked.denominator], np.int64)
        items = coded.sensitive[self.value]
        return Tally(*compiled(), items, 1, bounds, 2 + coded.codes[self.value])

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`."""
        scratch.execute(
            "share/below",
            made=failing,
            rows=rows.table,
            groups=list(rows.groups),
            value=rows.names[self.value],
            count=rows.count,
            p=self.asked.numerator,
            q=self.asked.denominator,
        )

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """See `Requirement.measure`."""
        found = engine.fetch(
            statement(
                "share/measure",
                engine.dialect,
                target=rows.table,
                classes=list(rows.groups),
                value=rows.names[self.value],
                count=rows.count,
            ),
            max_rows=1_000_000,
        )
        shares = [Fraction(int(str(most)), int(str(n))) for most, n in found]
        return Measured(max(shares, default=Fraction(0)), sum(not self.reaches(share) for share in shares))


DECLARED = RequirementDeclaration(
    name="max_share",
    about="(alpha, k)-anonymity: the share of a sensitive value in a class, at most.",
    code="tests.extend.share:Share",
    value=Number(Fraction(0), Fraction(1)),
    at_most=True,
)
