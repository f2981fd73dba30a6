-- name: refresh/rows_with_key
-- params: old, new (history tables)
-- returns: earlier bigint (rows of the old), added bigint, removed bigint, changed bigint
--   (rows of the same key with other values)
SELECT
    CAST(COALESCE(SUM(CASE WHEN o.person IS NOT NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS earlier
    , CAST(COALESCE(SUM(CASE WHEN o.person IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS added
    , CAST(COALESCE(SUM(CASE WHEN n.person IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS removed
    , CAST(COALESCE(SUM(CASE WHEN o.mark <> n.mark THEN 1 ELSE 0 END), 0) AS BIGINT) AS changed
FROM {{ old | table }} AS o
FULL JOIN {{ new | table }} AS n ON n.person = o.person
