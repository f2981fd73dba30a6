-- name: loss/scan
-- params: boxes (table), groups ({table, key, group, alone}), columns (list of {code, weight, size, lm (ncp
--   where that is the LM too: a sum less)}), weights (their sum), aggregates (list of {alias, sql}), starred (a
--   class or none), left_out (int: rows that are not published), ordered (bool: add classes up in their
--   order, where no plan does so by itself)
-- returns: one row with every aggregate that the metrics asked for: many metrics, one scan
-- A class is what a reader sees: boxes that publish the same columns are one class, as in a GROUP BY
-- on the release. Its NCP, LM and volume are the means over its rows, so sums over classes are sums
-- over boxes; widest is its worst box; suppressed counts the rows of it that are of the starred
-- class. Rows that are left out are one more class, which lost everything and is not published.
-- Rows are added up as doubles, which hold them exactly: a sum of integers is a numeric on
-- PostgreSQL, slow to divide by. The volume is a product of many small numbers, which
-- PostgreSQL refuses where it underflows: hence the logarithms.
-- Boxes are not grouped where no two publish the same; few are grouped all the same, to be added up in that order.
{% set grouped = ordered or not groups.alone %}
{% set total, most = ("SUM", "MAX") if grouped else ("", "") %}
SELECT
{% for a in aggregates %}
    {{ ", " if not loop.first }}{{ a.sql }} AS {{ a.alias }}
{% endfor %}
FROM (
    (SELECT
        1 AS published
        , {{ total }}(CAST(c.n AS DOUBLE)) AS n
        , CAST(
{% if starred is not none %}
            {{ total }}(CASE WHEN c.class = {{ starred }} THEN c.n ELSE 0 END)
{% else %}
            0
{% endif %}
            AS DOUBLE
        ) AS suppressed
{% for c in columns %}
        , {{ total }}(c.n * c.ncp_{{ c.code }}) / {{ total }}(CAST(c.n AS DOUBLE)) AS ncp_{{ c.code }}
        , {{ total }}(c.n * c.{{ c.lm }}_{{ c.code }}) / {{ total }}(CAST(c.n AS DOUBLE)) AS lm_{{ c.code }}
{% endfor %}
        , {{ most }}((
            {% for c in columns %}{{ " + " if not loop.first }}{{ c.weight }} * c.ncp_{{ c.code }}{% endfor %}
        ) / {{ weights }}) AS widest
        , {{ total }}(c.n * EXP(GREATEST(
{% for c in columns %}
            {{ " + " if not loop.first }}LN(CASE
                WHEN c.lo_{{ c.code }} = c.hi_{{ c.code }} THEN CAST(1 AS DOUBLE) / {{ c.size }}
                ELSE GREATEST(c.ncp_{{ c.code }}, 1e-300)
            END)
{% endfor %}
            , CAST(-700 AS DOUBLE)
        ))) / {{ total }}(CAST(c.n AS DOUBLE)) AS volume
    FROM {{ boxes | table }} AS c
{% if grouped %}
    JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = c.class
    GROUP BY r.{{ groups.group }}
{% endif %}
{% if ordered %}
    ORDER BY r.{{ groups.group }}
{% endif %}
    )
{% if left_out %}
    UNION ALL
    SELECT
        0 AS published
        , CAST({{ left_out }} AS DOUBLE) AS n
        , CAST({{ left_out }} AS DOUBLE) AS suppressed
{% for c in columns %}
        , CAST(1 AS DOUBLE) AS ncp_{{ c.code }}
        , CAST(1 AS DOUBLE) AS lm_{{ c.code }}
{% endfor %}
        , CAST(1 AS DOUBLE) AS widest
        , CAST(1 AS DOUBLE) AS volume
{% endif %}
) AS b
