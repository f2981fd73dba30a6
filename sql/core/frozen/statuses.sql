-- name: frozen/statuses
-- params: stage (the source's rows, with their key), rows (the lineage's), erased (table), whole (bool: both have the person)
-- returns: status text, n bigint, earliest text (the earliest time since when one waits): the source's rows by what the lineage has of them
SELECT t.status AS status, COUNT(*) AS n, MIN(t.earliest) AS earliest
FROM (
    SELECT
        CASE
            WHEN e._sqlanon_key IS NOT NULL THEN 'erased'
{% if whole %}
            WHEN l._sqlanon_class IS NULL AND l._sqlanon_refused IS NULL AND p._sqlanon_owner IS NOT NULL THEN 'later'
{% endif %}
            WHEN l._sqlanon_key IS NULL THEN 'new'
            WHEN l._sqlanon_gone IS NOT NULL THEN 'gone'
            WHEN l._sqlanon_class IS NOT NULL THEN 'published'
            WHEN l._sqlanon_refused IS NOT NULL THEN 'refused'
            ELSE 'waiting'
        END AS status
        , l._sqlanon_first AS earliest
    FROM {{ stage | table }} AS s
    LEFT JOIN {{ rows | table }} AS l ON l._sqlanon_key = s.person
    LEFT JOIN {{ erased | table }} AS e ON e._sqlanon_key = s.person
{% if whole %}
    LEFT JOIN (
        SELECT DISTINCT x._sqlanon_owner FROM {{ rows | table }} AS x WHERE x._sqlanon_class IS NOT NULL
    ) AS p ON p._sqlanon_owner = s.owner
{% endif %}
) AS t
GROUP BY t.status
