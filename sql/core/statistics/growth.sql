-- name: statistics/growth
-- params: rows (table, as statistics/rows makes it), base (as statistics/base_atoms makes
--   it), columns (list), sums (list of {place})
-- returns: rows bigint, persons bigint, came bigint (rows beyond those of the versions before, summed over the finest
--   combinations and the amounts), went bigint (rows of the versions before that finest combinations no longer have)
SELECT
    (SELECT COUNT(*) FROM {{ rows | table }} AS x) AS n
    , (SELECT COUNT(DISTINCT y.person) FROM {{ rows | table }} AS y) AS persons
    , CAST(COALESCE(
        SUM(CASE WHEN COALESCE(g.n, 0) > COALESCE(b.n, 0) THEN COALESCE(g.n, 0) - COALESCE(b.n, 0) ELSE 0 END), 0
    ) AS BIGINT) AS came
    , CAST(COALESCE(
        SUM(CASE WHEN COALESCE(g.n, 0) < COALESCE(b.n, 0) THEN COALESCE(b.n, 0) - COALESCE(g.n, 0) ELSE 0 END), 0
    ) AS BIGINT) AS went
FROM (
    SELECT
        COUNT(*) AS n{% for c in columns %}, r.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
        , r.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
    FROM {{ rows | table }} AS r
    GROUP BY
        {% for c in columns %}{{ ", " if not loop.first }}r.v{{ loop.index }}_0{% endfor %}
{% for s in sums %}
        , r.s{{ s.place }}
{% endfor %}
) AS g
FULL JOIN {{ base | table }} AS b
    ON {% for c in columns %}{{ " AND " if not loop.first }}b.v{{ loop.index }}_0 = g.v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
        AND b.s{{ s.place }} = g.s{{ s.place }}
{% endfor %}
