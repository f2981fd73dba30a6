-- name: frozen/facts
-- params: rows, classes (the lineage's tables), at (a version)
-- returns: starred bigint (published rows of suppressed classes), loss double (mean over
--   published rows of what their classes lost when they were made)
SELECT
    CAST(COALESCE(SUM(CASE WHEN c._sqlanon_starred THEN 1 ELSE 0 END), 0) AS BIGINT) AS starred
    , COALESCE(AVG(c._sqlanon_loss), 0) AS loss
FROM {{ rows | table }} AS l
JOIN {{ classes | table }} AS c ON c._sqlanon_class = l._sqlanon_class
WHERE l._sqlanon_since <= {{ at }} AND (l._sqlanon_gone IS NULL OR l._sqlanon_gone > {{ at }})
