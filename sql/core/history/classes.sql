-- name: history/classes
-- params: history (table)
-- returns: class bigint, each once
SELECT CAST(h.class AS BIGINT) AS class
FROM {{ history | table }} AS h
WHERE h.class IS NOT NULL
GROUP BY h.class
ORDER BY h.class
