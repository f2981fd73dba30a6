-- name: frozen/gone_with
-- params: rows (the lineage's), stage (the source's rows, with their key), leaving (classes), erased (hashes of keys)
-- returns: n bigint: rows of the source whose class leaves with an erased key, and that are not erased themselves
SELECT COUNT(*) AS n
FROM {{ rows | table }} AS l
JOIN {{ stage | table }} AS s ON s.person = l._sqlanon_key
WHERE l._sqlanon_gone IS NULL
    AND l._sqlanon_class IN (SELECT x.class FROM {{ leaving | table }} AS x)
    AND NOT EXISTS (SELECT 1 FROM {{ erased | table }} AS e WHERE e._sqlanon_key = l._sqlanon_key)
