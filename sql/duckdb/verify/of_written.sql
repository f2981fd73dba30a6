-- name: verify/of_written
-- params: written, marks (tables)
-- returns: n bigint, mark text: the fingerprint of the written table, as verify/fingerprint makes it; apart boolean: every class has a mark of
--   its own, so that the groups of a mark are those of the class columns
SELECT
    CAST(COALESCE(SUM(w.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(w.total), 0) AS VARCHAR) AS mark
    , (SELECT COUNT(DISTINCT m.mark) = COUNT(*) FROM {{ marks | table }} AS m) AS apart
FROM {{ written | table }} AS w
