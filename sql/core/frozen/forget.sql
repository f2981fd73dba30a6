-- name: frozen/forget
-- params: rows (the lineage's), stage (the source's rows, or none: all that wait)
-- returns: nothing; rows that wait and are no longer in the source, or are entered now, wait no more
DELETE FROM {{ rows | table }}
WHERE _sqlanon_class IS NULL AND _sqlanon_refused IS NULL
{% if stage %}
    AND NOT EXISTS (SELECT 1 FROM {{ stage | table }} AS s WHERE s.person = _sqlanon_key)
{% endif %}
