-- name: verify/weighted_l
-- params: target (table), classes (column names; none: all rows are one class), person,
--   sensitive (columns), count (column with the number of rows that each represents, or none)
-- returns: whole bigint, top bigint (of the class with the least whole / top: its persons, and the weight
--   of the value that weighs most, both times 720720), failing bigint (classes where top * p > whole * q).
--   A person weighs one in a class, split over its rows there, each value's part rounded up to 1 / 720720:
--   exact for persons of up to 16 rows. A person is counted with whichever of its values has place 1
{% macro columns(of) %}{% for name in classes %}{{ of }}.g{{ loop.index }}, {% endfor %}{% endmacro %}
SELECT
    g.whole AS whole
    , g.top AS top
    , CAST(
        SUM(CASE WHEN g.top * CAST(:p AS BIGINT) > g.whole * CAST(:q AS BIGINT) THEN 1 ELSE 0 END) OVER () AS BIGINT
    ) AS failing
FROM (
    SELECT CAST(SUM(w.persons) * 720720 AS BIGINT) AS whole, CAST(MAX(w.weight) AS BIGINT) AS top
    FROM (
        SELECT {{ columns("v") }}v.value AS value, SUM(CASE WHEN v.place = 1 THEN 1 ELSE 0 END) AS persons
            , SUM(CAST(FLOOR(CAST(v.n * 720720 + v.own - 1 AS DOUBLE) / CAST(v.own AS DOUBLE)) AS BIGINT)) AS weight
        FROM (
            SELECT {{ columns("c") }}c.value AS value, c.n AS n
                , SUM(c.n) OVER (PARTITION BY {{ columns("c") }}c.person) AS own
                , ROW_NUMBER() OVER (PARTITION BY {{ columns("c") }}c.person) AS place
            FROM (
                SELECT
{% for name in classes %}
                    t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
                    t.{{ person | ident }} AS person
                    , t.{{ sensitive | ident }} AS value
                    , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
                FROM {{ target | table }} AS t
                GROUP BY
{% for name in classes %}
                    t.{{ name | ident }},
{% endfor %}
                    t.{{ person | ident }}, t.{{ sensitive | ident }}
            ) AS c
        ) AS v
        GROUP BY {{ columns("v") }}v.value
    ) AS w
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}w.g{{ loop.index }}{% endfor %}
{% endif %}
) AS g
WHERE g.top IS NOT NULL
ORDER BY CAST(g.whole AS DOUBLE) / CAST(g.top AS DOUBLE), g.whole
LIMIT 1
