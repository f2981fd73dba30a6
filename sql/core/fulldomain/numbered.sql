-- name: fulldomain/numbered
-- params: classes (table), joined
-- returns: kept bigint (classes that are published as they are), gone bigint (classes that are suppressed)
SELECT
    CAST(COALESCE(SUM(CASE WHEN c.place > {{ joined }} THEN 1 ELSE 0 END), 0) AS BIGINT) AS kept
    , CAST(COALESCE(SUM(CASE WHEN c.place > {{ joined }} THEN 0 ELSE 1 END), 0) AS BIGINT) AS gone
FROM {{ classes | table }} AS c
