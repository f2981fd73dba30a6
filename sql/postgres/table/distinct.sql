-- name: table/distinct
-- Counts the repeats, twice, so that one is enough. PostgreSQL sorts numbers in less time
-- than it groups them or passes rows through a window, and sees that they are sorted already.
SELECT 2 * (COUNT(*) - COUNT(DISTINCT s.{{ column | ident }})) AS breaks
FROM {{ source | table }} AS s
