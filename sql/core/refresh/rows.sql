-- name: refresh/rows
-- params: stage (table), linked (a version's private table of link),
--   link (alias of each column that it is the hash of, and whether that is a listed text; none: the column link)
-- returns: earlier bigint (rows of the version), added bigint, removed bigint: by link, equal ones counted
SELECT
    CAST(COALESCE(SUM(d.before), 0) AS BIGINT) AS earlier
    , CAST(COALESCE(SUM(CASE WHEN d.after > d.before THEN d.after - d.before ELSE 0 END), 0) AS BIGINT) AS added
    , CAST(COALESCE(SUM(CASE WHEN d.before > d.after THEN d.before - d.after ELSE 0 END), 0) AS BIGINT) AS removed
FROM (
    SELECT SUM(u.before) AS before, SUM(u.after) AS after
    FROM (
        SELECT {{ link | link_of("s") }} AS link, 0 AS before, 1 AS after FROM {{ stage | table }} AS s
        UNION ALL
        SELECT t.link AS link, 1 AS before, 0 AS after FROM {{ linked | table }} AS t
    ) AS u
    GROUP BY u.link
) AS d
