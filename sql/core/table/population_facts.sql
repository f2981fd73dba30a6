-- name: table/population_facts
-- params: cells (table), columns (list of {code, codes})
-- returns: n bigint (rows of the population), inside bigint (those that the last levels
--   cover), per column: nulls bigint, unknown bigint (rows that are refused for their
--   NULL, and for a value that the hierarchy or the given order has not)
SELECT
    CAST(COALESCE(SUM(p.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(CASE
        WHEN {% for c in columns %}{{ " AND " if not loop.first }}p.{{ c.code }} <= {{ c.codes }}{% endfor %} THEN p.n
        ELSE 0
    END), 0) AS BIGINT) AS inside
{% for c in columns %}
    , CAST(
        COALESCE(SUM(CASE WHEN p.{{ c.code }} = {{ c.codes + 2 }} THEN p.n ELSE 0 END), 0) AS BIGINT
    ) AS nulls{{ loop.index }}
    , CAST(
        COALESCE(SUM(CASE WHEN p.{{ c.code }} = {{ c.codes + 3 }} THEN p.n ELSE 0 END), 0) AS BIGINT
    ) AS unknown{{ loop.index }}
{% endfor %}
FROM {{ cells | table }} AS p
