-- name: noisy/verify_view
-- params: physical (published table), drawn (table of noisy numbers), columns (names),
--   night (rows up to this night; none: all)
-- returns: how many rows of one are not in the other, and by how much their numbers of rows differ
{% macro shown() %}{% if night %} WHERE d.{{ "night" | ident }} <= {{ night }}{% endif %}{% endmacro %}
SELECT
    (SELECT COUNT(*) FROM (
        SELECT {% for name in columns %}{{ ", " if not loop.first }}d.{{ name | ident }}{% endfor %}
        FROM {{ drawn | table }} AS d{{ shown() }}
        EXCEPT
        SELECT {% for name in columns %}{{ ", " if not loop.first }}p.{{ name | ident }}{% endfor %}
        FROM {{ physical | table }} AS p
    ) AS missing)
    + (SELECT COUNT(*) FROM (
        SELECT {% for name in columns %}{{ ", " if not loop.first }}p.{{ name | ident }}{% endfor %}
        FROM {{ physical | table }} AS p
        EXCEPT
        SELECT {% for name in columns %}{{ ", " if not loop.first }}d.{{ name | ident }}{% endfor %}
        FROM {{ drawn | table }} AS d{{ shown() }}
    ) AS added)
    + ABS(
        (
            SELECT COUNT(*)
            FROM {{ drawn | table }} AS d{{ shown() }}
        ) - (SELECT COUNT(*) FROM {{ physical | table }} AS p)
    ) AS differences
