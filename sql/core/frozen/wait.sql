-- name: frozen/wait
-- params: rows (the lineage's), stage (the source's rows, with their key), erased (table),
--   whole (bool: not those of persons who are published), at (since when they wait)
-- returns: nothing; rows that were never seen wait from now on
INSERT INTO {{ rows | table }} (_sqlanon_key, _sqlanon_first)
SELECT s.person, CAST(:at AS VARCHAR)
FROM {{ stage | table }} AS s
WHERE NOT EXISTS (SELECT 1 FROM {{ rows | table }} AS l WHERE l._sqlanon_key = s.person)
    AND NOT EXISTS (SELECT 1 FROM {{ erased | table }} AS e WHERE e._sqlanon_key = s.person)
{% if whole %}
    AND NOT EXISTS (
        SELECT 1
        FROM {{ rows | table }} AS o
        WHERE o._sqlanon_owner = s.owner AND o._sqlanon_class IS NOT NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM {{ stage | table }} AS y JOIN {{ rows | table }} AS o ON o._sqlanon_key = y.person
        WHERE y.owner = s.owner AND o._sqlanon_class IS NOT NULL
    )
{% endif %}
