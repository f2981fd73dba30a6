-- name: verify/person_values
-- params: target (table), classes (column names; none: all rows are one class), person,
--   value (columns), count (column with the number of rows that each represents, or none)
-- returns: class bigint (0, 1, ..; -1: the whole table), value bigint (0, 1, .. by ascending values, NULL first),
--   own bigint (rows of a person in the class), n bigint (rows with the value, of all persons who have so many)
{% macro parts(columns, class) %}
    SELECT {{ class }} AS class, c.value AS value, c.own AS own, SUM(c.n) AS n
    FROM (
        SELECT {% for name in columns %}p.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}p.value AS value, p.n AS n
            , SUM(p.n) OVER (PARTITION BY {% for name in columns %}p.g{{ loop.index }}, {% endfor %}p.person) AS own
        FROM (
            SELECT
{% for name in columns %}
                t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
                t.{{ person | ident }} AS person
                , t.{{ value | ident }} AS value
                , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
            FROM {{ target | table }} AS t
            GROUP BY
{% for name in columns %}
                t.{{ name | ident }},
{% endfor %}
                t.{{ person | ident }}, t.{{ value | ident }}
        ) AS p
    ) AS c
    GROUP BY {% for name in columns %}c.g{{ loop.index }}, {% endfor %}c.value, c.own
{% endmacro %}
{% macro rank() %}
{% if classes %}
DENSE_RANK() OVER (ORDER BY {% for name in classes %}{{ ", " if not loop.first }}c.g{{ loop.index }}{% endfor %}) - 1
{% else %}
0
{% endif %}
{% endmacro %}
SELECT
    CAST(u.class AS BIGINT) AS class
    , CAST(DENSE_RANK() OVER (ORDER BY u.value NULLS FIRST) - 1 AS BIGINT) AS value
    , CAST(u.own AS BIGINT) AS own
    , CAST(u.n AS BIGINT) AS n
FROM (
{{ parts(classes, rank()) }}
    UNION ALL
{{ parts([], "-1") }}
) AS u
