-- name: mondrian/finished
-- params: done (table), items (table), cuts (table), keys (columns that identify an item),
--   distinct (bool: items may share keys)
-- returns: nothing: items of partitions without a cut move into done
INSERT INTO {{ done | table }}
SELECT i.part AS part{% for key in keys %}, i.{{ key }} AS {{ key }}{% endfor %}

FROM {{ items | table }} AS i
LEFT JOIN {{ cuts | table }} AS c ON c.part = i.part
WHERE c.part IS NULL
{% if distinct %}
GROUP BY i.part{% for key in keys %}, i.{{ key }}{% endfor %}
{% endif %}
