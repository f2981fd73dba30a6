-- name: statistics/verify_cells
-- params: keyed (table, as statistics/verify_rows makes it), cells (table), columns (list
--   of {levels}), sums (list of {place}), margins
-- returns: failing bigint: cells of the staged rows that are not in the table with the
--   same rows, persons and sums, and others that are in it
{% from "core/statistics/verify_cells.jinja" import levels_and_keys, margin_sets, same_cell %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT s.person) AS persons
{% for own in sums %}
        , SUM(s.s{{ own.place }}) AS s{{ own.place }}
{% endfor %}
{{ levels_and_keys(columns, "s") }}
    FROM {{ keyed | table }} AS s
    GROUP BY {{ margin_sets(columns, margins, "s") }}
) AS f
FULL JOIN {{ cells | table }} AS c
    ON
        {{ same_cell(columns, "c", "f") }}
        AND c.n = f.n
        AND c.persons = f.persons
{% for own in sums %}
        AND c.s{{ own.place }} = f.s{{ own.place }}
{% endfor %}
WHERE f.n IS NULL OR c.n IS NULL
