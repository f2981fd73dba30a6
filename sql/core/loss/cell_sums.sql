-- name: loss/cell_sums
-- params: cells (table), columns (list of {code, others (values of the domain but one, at least 1)})
-- returns: one row, per column sums over rows: of (values in the cell - 1) / others, of
--   levels, of ln (rows in the cell); doubles
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}CAST(
        COALESCE(SUM(CAST(c.n AS DOUBLE) * CAST(c.size_{{ c.code }} - 1 AS DOUBLE)), 0) AS DOUBLE
    )
        / {{ c.others }} AS values_{{ c.code }}
    , CAST(COALESCE(SUM(CAST(c.n AS DOUBLE) * c.level_{{ c.code }}), 0) AS DOUBLE) AS levels_{{ c.code }}
    , CAST(
        COALESCE(SUM(CAST(c.n AS DOUBLE) * LN(CAST(c.inside_{{ c.code }} AS DOUBLE))), 0) AS DOUBLE
    ) AS bits_{{ c.code }}
{% endfor %}
FROM {{ cells | table }} AS c
