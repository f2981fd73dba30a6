-- name: report/detail
-- params: target (table), column, patterns (names of what is bound; none: :most is bound)
-- returns: found bigint (rows whose text is like one of the patterns; without patterns
--   those with a value above :most), counted bigint (rows with a value)
SELECT
    COUNT(CASE
        WHEN
{% if patterns %}
            {% for name in patterns %}{{ "" if loop.first else " OR " }}c.text LIKE :{{ name }}{% endfor %}
{% else %}
            c.value > :most
{% endif %}
            THEN 1
    END) AS found
    , COUNT(c.text) AS counted
FROM (
    SELECT t.{{ column | ident }} AS value, CAST(t.{{ column | ident }} AS VARCHAR) AS text
    FROM {{ target | table }} AS t
) AS c
