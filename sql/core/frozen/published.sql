-- name: frozen/published
-- params: rows (the lineage's), leaving (classes that leave), stage (the source's rows)
-- returns: published bigint, retained bigint: the rows that stay published, and those of them that the source no longer has
SELECT
    COUNT(*) AS published
    , COALESCE(SUM(CASE WHEN s.person IS NULL THEN 1 ELSE 0 END), 0) AS retained
FROM {{ rows | table }} AS l
LEFT JOIN {{ stage | table }} AS s ON s.person = l._sqlanon_key
WHERE l._sqlanon_class IS NOT NULL AND l._sqlanon_gone IS NULL
    AND NOT EXISTS (SELECT 1 FROM {{ leaving | table }} AS x WHERE x.class = l._sqlanon_class)
