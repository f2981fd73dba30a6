-- name: verify/alike
-- params: signs (table of token, sign)
-- returns: reached bigint (the fewest tokens that are alike), failing bigint (tokens that
--   are alike with fewer than :asked, themselves counted)
SELECT
    CAST(COALESCE(MIN(g.n), 0) AS BIGINT) AS reached
    , CAST(COALESCE(SUM(CASE WHEN g.n < :asked THEN g.n ELSE 0 END), 0) AS BIGINT) AS failing
FROM (
    SELECT COUNT(*) AS n
    FROM {{ signs | table }} AS s
    GROUP BY s.sign
) AS g
