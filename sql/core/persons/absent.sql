-- name: persons/absent
-- params: stage (table), token (alias of the tokens in stage), elsewhere (table of token and sign)
-- returns: sign integer, n integer: how many tokens that are like this elsewhere have no row in stage
SELECT CAST(e.sign AS INTEGER) AS sign, CAST(COUNT(*) AS INTEGER) AS n
FROM {{ elsewhere | table }} AS e
LEFT JOIN (
    SELECT DISTINCT s.{{ token }} AS token
    FROM {{ stage | table }} AS s
) AS h ON h.token = e.token
WHERE h.token IS NULL
GROUP BY e.sign
ORDER BY sign
