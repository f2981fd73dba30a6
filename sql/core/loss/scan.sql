-- name: loss/scan
-- params: boxes, released (tables), columns (code columns), aggregates (list of {alias, sql})
-- returns: one row with every aggregate that the metrics asked for: many metrics, one scan
-- A class is what a reader sees: boxes that publish the same columns are one class, as in a GROUP BY on the release.
SELECT
{% for a in aggregates %}
    {{ ", " if not loop.first }}{{ a.sql }} AS {{ a.alias }}
{% endfor %}
FROM (
    SELECT
        CAST(SUM(c.n) AS DOUBLE) AS n
{% for code in columns %}
        , SUM(c.n * c.ncp_{{ code }}) / CAST(SUM(c.n) AS DOUBLE) AS ncp_{{ code }}
        , SUM(c.n * c.lm_{{ code }}) / CAST(SUM(c.n) AS DOUBLE) AS lm_{{ code }}
{% endfor %}
    FROM {{ boxes | table }} AS c
    JOIN {{ released | table }} AS r ON r._sqlanon_class = c.class
    GROUP BY r._sqlanon_place
) AS b
