-- name: statistics/atoms
-- params: atoms (table to make), rows (table, as statistics/rows makes it), columns (list of {levels}), sums (list)
-- returns: atom bigint, keys as there, n bigint (rows), persons bigint, s<sum> bigint,
--   owner bigint (a number, from 1, of the person whose rows all are; -1: several)
{% from "core/statistics/cells.jinja" import columns_of_levels %}
{% macro keys(of) %}
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
, {{ of }}.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
{% endmacro %}
CREATE {{ atoms | scratch }} AS
SELECT
    g.atom AS atom
{{ columns_of_levels(columns, "g") }}
    , g.n AS n
    , g.persons AS persons
{% for s in sums %}
    , g.s{{ loop.index }} AS s{{ loop.index }}
{% endfor %}
    , CASE WHEN g.persons = 1 THEN DENSE_RANK() OVER (ORDER BY g.one) ELSE -1 END AS owner
FROM (
    SELECT
        r.atom AS atom
{{ columns_of_levels(columns, "r") }}
        , COUNT(*) AS n
        , COUNT(DISTINCT r.person) AS persons
        , MIN(r.person) AS one
{% for s in sums %}
        , CAST(SUM(r.s{{ loop.index }}) AS BIGINT) AS s{{ loop.index }}
{% endfor %}
    FROM {{ rows | table }} AS r
    GROUP BY r.atom{{ keys("r") }}
) AS g
