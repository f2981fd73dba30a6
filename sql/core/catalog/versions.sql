-- name: catalog/versions
-- params: catalog (table), :release
-- returns: the numbers of the versions of a release
SELECT DISTINCT c.version AS version
FROM {{ catalog | table }} AS c
WHERE c.release = :release
ORDER BY version
