-- name: catalog/later
-- params: catalog (table), :release, :at
-- returns: when runs looked at versions of a release after a time, and the reports of these versions, as JSON
SELECT COALESCE(c.checked_at, c.published_at) AS looked_at, c.report AS report
FROM {{ catalog | table }} AS c
WHERE c.release = :release AND COALESCE(c.checked_at, c.published_at) > :at
ORDER BY COALESCE(c.checked_at, c.published_at)
