-- name: freeform/exposed
-- params: edges (scratch table of rid, box), classed (table of rid, class (the drawn box)
--   and values), columns (aliases of columns that are published as they are; may be empty)
-- returns: fewest bigint (over rows: the boxes that it fits in which its own values of the
--   columns are published), alone bigint (rows with one), n bigint (rows)
SELECT
    CAST(COALESCE(MIN(g.n), 0) AS BIGINT) AS fewest
    , CAST(COALESCE(SUM(CASE WHEN g.n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS alone
    , COUNT(*) AS n
FROM (
    SELECT e.rid AS rid, COUNT(*) AS n
    FROM {{ edges | table }} AS e
    JOIN {{ classed | table }} AS s ON s.rid = e.rid
    JOIN {{ classed | table }} AS p ON p.class = e.box
{% for name in columns %}
    {{ "WHERE" if loop.first else "AND" }} s.{{ name }} IS NOT DISTINCT FROM p.{{ name }}
{% endfor %}
    GROUP BY e.rid
) AS g
