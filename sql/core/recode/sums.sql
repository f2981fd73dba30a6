-- name: recode/sums
-- params: means (table to make), classed (table), columns (list of {alias, code})
-- returns: class, mean_<code> double: the exact sum of a class divided once, over values that are not NULL
CREATE {{ means | scratch }} AS
SELECT
    s.class AS class
{% for column in columns %}
    , CASE
        WHEN COUNT(s.{{ column.alias }})
            > 0 THEN CAST(SUM(s.{{ column.alias }}) AS DOUBLE) / CAST(COUNT(s.{{ column.alias }}) AS DOUBLE)
    END AS mean_{{ column.code }}
{% endfor %}
FROM {{ classed | table }} AS s
GROUP BY s.class
