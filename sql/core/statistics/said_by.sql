-- name: statistics/said_by
-- params: source (table), column, sum (names), numbers (bool: both are numbers)
-- returns: said bigint (1: a column says what another one is: each of its values, of which there are at
--   most half as many as rows, has one value of the other, or numbers are the other ones in another unit)
{% macro read(name) %}
{{ "CAST(s.%s AS DOUBLE)" | format(name | ident) if numbers else "s." ~ (name | ident) }}
{% endmacro %}
SELECT CAST(CASE
    WHEN COUNT(DISTINCT g.x) < 2 OR SUM(g.begins) < 2 THEN 0
    WHEN COUNT(*) = SUM(g.begins) AND 2 * COUNT(*) <= SUM(g.n) THEN 1
{% if numbers %}
    WHEN SUM(g.n * g.x * g.y) * SUM(g.n * g.x * g.y) >= 0.999999 * SUM(g.n * g.x * g.x) * SUM(g.n * g.y * g.y) THEN 1
{% endif %}
    ELSE 0
END AS BIGINT) AS said
FROM (
    SELECT
        p.n AS n
        , p.x{{ " - m.x" if numbers }} AS x
{% if numbers %}
        , p.y - m.y AS y
{% endif %}
        , CASE WHEN ROW_NUMBER() OVER (PARTITION BY p.y ORDER BY p.x) = 1 THEN 1 ELSE 0 END AS begins
    FROM (
        SELECT {{ read(sum) }} AS x, {{ read(column) }} AS y, COUNT(*) AS n
        FROM {{ source | table }} AS s
        WHERE s.{{ column | ident }} IS NOT NULL
        GROUP BY {{ read(sum) }}, {{ read(column) }}
    ) AS p
{% if numbers %}
    CROSS JOIN (
        SELECT AVG({{ read(sum) }}) AS x, AVG({{ read(column) }}) AS y
        FROM {{ source | table }} AS s
        WHERE s.{{ column | ident }} IS NOT NULL
    ) AS m
{% endif %}
) AS g
