-- name: suppress/heights
-- params: heights (table to make), cells (table), keys (columns), value (SA code column), p, q (l = p / q)
-- returns: the keys, height bigint: the count that phase one of TP cuts every value of a
--   group to, see `sqlanon.kernels.suppress.measure_height`
-- A group with fewer than l values has a sum of 0 after its last one: nothing of it can be kept.
CREATE {{ heights | scratch }} AS
SELECT {% for key in keys %}r.{{ key }} AS {{ key }}, {% endfor %}
    CASE WHEN COUNT(*) * {{ q }} < {{ p }} THEN CAST(0 AS BIGINT) ELSE MIN(r.bound) END AS height
FROM (
    SELECT {% for key in keys %}o.{{ key }} AS {{ key }}, {% endfor %}
        CASE
            WHEN o.place * {{ q }} >= {{ p }} THEN NULL
            WHEN o.place = 0 THEN LEAST(o.n, CAST(FLOOR(CAST(o.rest * {{ q }} AS DOUBLE) / {{ p }}) AS BIGINT))
            ELSE CAST(FLOOR(CAST(o.rest * {{ q }} AS DOUBLE) / ({{ p }} - o.place * {{ q }})) AS BIGINT)
        END AS bound
    FROM (
        SELECT {% for key in keys %}c.{{ key }} AS {{ key }}, {% endfor %}c.n AS n
            , ROW_NUMBER() OVER (
                PARTITION BY {% for key in keys %}{{ ", " if not loop.first }}c.{{ key }}{% endfor %}
                ORDER BY c.n DESC, c.{{ value }}
            ) - 1 AS place
            , SUM(c.n) OVER (
                PARTITION BY {% for key in keys %}{{ ", " if not loop.first }}c.{{ key }}{% endfor %}
                ORDER BY c.n DESC, c.{{ value }}
                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
            ) AS rest
        FROM {{ cells | table }} AS c
    ) AS o
) AS r
GROUP BY {% for key in keys %}{{ ", " if not loop.first }}r.{{ key }}{% endfor %}
