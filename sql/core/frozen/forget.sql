-- name: frozen/forget
-- params: rows (the lineage's), stage (the source's rows, or none: all that wait), whole
--   (bool: not those of persons who are published)
-- returns: nothing; rows that wait and are no longer in the source, or are entered now, or
--   are of a person who turned out to be published, wait no more
DELETE FROM {{ rows | table }}
WHERE _sqlanon_class IS NULL AND _sqlanon_refused IS NULL
{% if stage %}
    AND NOT EXISTS (
        SELECT 1
        FROM {{ stage | table }} AS s
        WHERE s.person = _sqlanon_key
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
    )
{% endif %}
