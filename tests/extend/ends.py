"""A format of an extension: the ends of every class as ``<column>_from`` and ``<column>_to``.

Numbers, dates and booleans only.

Its columns, how they are made, whether they cover the rows, and what a query reads in them: all that a format says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.declared import FormatFacts
from sqlanon.formats import Cell, Names
from sqlanon.formats.boxes import BoxFormat
from sqlanon.sqltext import add_template, identifier

if TYPE_CHECKING:
    from sqlanon.formats.base import Field
    from sqlanon.spec import ReleaseSpec
    from sqlanon.table.reading import Reading, Roles

add_template(
    "ends/shown",
    """\
-- name: ends/shown
-- params: shown (table to make), boxes (table), columns (list of {code, domain, names}), codes (none)
-- returns: _sqlanon_class, the published columns of these quasi columns: one row a class
CREATE {{ shown | scratch }} AS
SELECT
    b.class AS _sqlanon_class
{% for c in columns %}
    , CASE WHEN b.null_{{ c.code }} = 'none' THEN l{{ c.code }}.value END AS {{ c.names.lo | ident }}
    , CASE WHEN b.null_{{ c.code }} = 'none' THEN h{{ c.code }}.value END AS {{ c.names.hi | ident }}
{% if c.names.null %}
    , b.null_{{ c.code }} AS {{ c.names.null | ident }}
{% endif %}
{% endfor %}
FROM {{ boxes | table }} AS b
{% for c in columns %}
JOIN {{ c.domain | table }} AS l{{ c.code }} ON l{{ c.code }}.code = b.lo_{{ c.code }}
JOIN {{ c.domain | table }} AS h{{ c.code }} ON h{{ c.code }}.code = b.hi_{{ c.code }}
{% endfor %}
""",
)
add_template(
    "ends/covered",
    """\
-- name: ends/covered
-- params: classed, claimed (tables), columns (list of {alias, names})
-- returns: n bigint (staged rows that reach the release), uncovered bigint (rows that what is published does not cover)
-- Compares staged original values with released ones, by class; it knows nothing of codes or methods.
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(CASE WHEN TRUE
{% for c in columns %}
        AND COALESCE(CASE
{% if c.names.null %}
            WHEN r.{{ c.names.null | ident }} = 'some' THEN TRUE
            WHEN r.{{ c.names.null | ident }} = 'all' THEN s.{{ c.alias }} IS NULL
{% else %}
            WHEN FALSE THEN TRUE
{% endif %}
            ELSE s.{{ c.alias }} >= r.{{ c.names.lo | ident }} AND s.{{ c.alias }} <= r.{{ c.names.hi | ident }}
        END, FALSE)
{% endfor %}
        THEN 0 ELSE 1 END), 0) AS BIGINT) AS uncovered
FROM {{ classed | table }} AS s
JOIN {{ claimed | table }} AS r ON r._sqlanon_class = s.class
""",
)


class Ends(BoxFormat):
    """The ends of a class; `BoxFormat` aggregates the boxes of classes and asks for the templates above."""

    shown = "ends/shown"
    cover = "ends/covered"

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        """What a quasi column becomes."""
        name = reading.name
        return Names(lo=f"{name}_from", hi=f"{name}_to", null=f"{name}_null" if nulls else None)

    def problems(self, spec: ReleaseSpec, roles: Roles) -> list[str]:
        """Columns that it does not publish."""
        other = [one.name for one in roles.quasi if one.treatment != "ordered" or one.spec.ordered is not None]
        return [f"format ends has no ends of {', '.join(other)}: use ranges"] if other else []

    def cell(self, own: Field, shape: str, view: str) -> Cell:
        """What a published cell says to a query."""
        low, high, *null = (f'"{view}".{identifier(name)}' for name in own.published)
        return Cell({"lo": low, "hi": high}, null[0] if null else None)

    def mark(self, names: Names) -> tuple[str | None, str]:
        """Where a cell says that its value is not known."""
        return names.null, "state"


DECLARED = FormatFacts(
    name="ends",
    code="tests.extend.ends:Ends",
    about="`<column>_from` and `<column>_to`, for numbers, dates and booleans.",
    reach=True,
)
