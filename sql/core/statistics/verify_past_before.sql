-- name: statistics/verify_past_before
-- params: made (as statistics/past_cells makes it), past (of the version before), cells
--   (private cells of the version before, with batches), first (the first version of all),
--   began (the version with which the last lineage began), columns (list)
-- returns: failing bigint: cells of earlier versions that are missing, or of which another number or status was kept
{% from "core/statistics/verify_cells.jinja" import same_cell %}
SELECT
    (
        SELECT COUNT(*)
        FROM {{ past | table }} AS p
        LEFT JOIN {{ made | table }} AS m ON m.since = p.since
            AND m.batch = p.batch
            AND m.hidden = p.hidden
            AND m.n = p.n
            AND {{ same_cell(columns, "m", "p") }}
        WHERE m.n IS NULL
    )
    + (
        SELECT COUNT(*)
        FROM {{ cells | table }} AS c
        LEFT JOIN {{ made | table }} AS q ON q.batch = c.batch
            AND q.hidden = c.hidden
            AND q.n = c.n
            AND q.since = CASE WHEN c.batch = {{ began }} THEN {{ first }} ELSE c.batch END
            AND {{ same_cell(columns, "q", "c") }}
        WHERE q.n IS NULL
    ) AS failing
