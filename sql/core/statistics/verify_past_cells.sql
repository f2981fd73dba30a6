-- name: statistics/verify_past_cells
-- params: cells (as statistics/past_cells makes it), atoms (as statistics/past_atoms makes
--   it), columns (list of {levels}), margins
-- returns: failing bigint: cells of earlier versions, or of the new rows, that are not the
--   sums of their atoms, or are missing
{% from "core/statistics/verify_cells.jinja" import levels_and_keys, margin_sets, same_cell %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        w.since AS since
        , w.batch AS batch
        , SUM(a.n) AS n
        , SUM(a.persons) AS persons
{{ levels_and_keys(columns, "a") }}
    FROM {{ atoms | table }} AS a
    JOIN (SELECT DISTINCT x.since AS since, x.batch AS batch FROM {{ cells | table }} AS x) AS w ON a.batch >= w.since
        AND a.batch <= w.batch
    GROUP BY {{ margin_sets(columns, margins, "a", "w.since, w.batch") }}
) AS g
FULL JOIN {{ cells | table }} AS c ON c.since = g.since
    AND c.batch = g.batch
    AND c.n = g.n
    AND c.persons = g.persons
    AND {{ same_cell(columns, "c", "g") }}
WHERE c.n IS NULL OR g.n IS NULL
