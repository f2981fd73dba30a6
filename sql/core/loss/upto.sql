-- name: loss/upto
-- params: upto (table to make), asked, joint (tables)
-- returns: value, code integer, n bigint: rows of the source with the sensitive value and a code of
--   at most this, at the ends that are asked for: what lies in an interval is the difference of two
CREATE {{ upto | scratch }} AS
SELECT t.value AS value, t.code AS code, CAST(MAX(t.total) AS BIGINT) AS n
FROM (
    SELECT u.value AS value, u.code AS code, SUM(u.n) OVER (PARTITION BY u.value ORDER BY u.code) AS total
    FROM (
        SELECT j.value AS value, CAST(j.code AS INTEGER) AS code, j.n AS n FROM {{ joint | table }} AS j
        UNION ALL
        SELECT a.value AS value, CAST(a.low - 1 AS INTEGER) AS code, CAST(0 AS BIGINT) AS n
        FROM {{ asked | table }} AS a
        UNION ALL
        SELECT a.value AS value, CAST(a.high AS INTEGER) AS code, CAST(0 AS BIGINT) AS n FROM {{ asked | table }} AS a
    ) AS u
) AS t
GROUP BY t.value, t.code
