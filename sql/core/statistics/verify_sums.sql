-- name: statistics/verify_sums
-- params: cells, atoms (tables), columns (list of {levels}), margins, sums (list of {place})
-- returns: failing bigint: sums of atoms, in each margin, that are no cell of the table
--   with as many rows, and other cells
{% from "core/statistics/verify_cells.jinja" import levels_and_keys, margin_sets, same_cell %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        CAST(SUM(a.n) AS BIGINT) AS n
{% for own in sums %}
        , CAST(SUM(a.s{{ own.place }}) AS BIGINT) AS s{{ own.place }}
{% endfor %}
{{ levels_and_keys(columns, "a") }}
    FROM {{ atoms | table }} AS a
    GROUP BY {{ margin_sets(columns, margins, "a") }}
) AS f
FULL JOIN {{ cells | table }} AS c
    ON
        {{ same_cell(columns, "c", "f") }}
        AND c.n = f.n
{% for own in sums %}
        AND c.s{{ own.place }} = f.s{{ own.place }}
{% endfor %}
WHERE f.n IS NULL OR c.n IS NULL
