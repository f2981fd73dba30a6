-- name: statistics/verify_added
-- params: published (as statistics/published makes it), atoms (table), columns (list of {levels}), margins
-- returns: failing bigint: published cells with a number that is not the sum of the finest published ones in it
{% from "core/statistics/verify_cells.jinja" import columns_of_levels, levels_and_keys, margin_sets, same_cell %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        SUM(x.value) AS value
{{ levels_and_keys(columns, "x") }}
    FROM (
        SELECT
            f.m1 AS value
{{ columns_of_levels(columns, "a") }}
        FROM {{ atoms | table }} AS a
        JOIN {{ published | table }} AS f ON
{% for column in columns %}
            {{ " AND " if not loop.first }}f.l{{ loop.index }} = 0
            AND f.k{{ loop.index }} = a.v{{ loop.index }}_0
{% endfor %}
    ) AS x
    GROUP BY {{ margin_sets(columns, margins, "x") }}
) AS g
FULL JOIN {{ published | table }} AS p ON
    {{ same_cell(columns, "p", "g") }}
    AND p.m1 = g.value
WHERE p.m1 IS NULL OR g.value IS NULL
