-- name: catalog/frozen
-- params: catalog (table), :release, :lineage (the text of JSON of a report on a lineage)
-- returns: 1 if a version of a release that readers had may be of a lineage
SELECT 1 AS found
FROM {{ catalog | table }} AS c
WHERE c.release = :release AND c.status IN ('published', 'withdrawn', 'replaced', 'dropped') AND c.report LIKE :lineage
LIMIT 1
