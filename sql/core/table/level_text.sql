-- name: table/level_text
-- params: values (a frequency set), lengths (list of integers: first characters that are
--   kept, or none), hidden (list of integers: last characters that are hidden, or none)
-- returns: value, and per length or number label1.., the node's label: every value that is not NULL
SELECT
    v.value AS value
{% for length in lengths %}
    , LEFT(v.value, {{ length }}) || '*' AS label{{ loop.index }}
{% endfor %}
{% for number in hidden %}
    , LEFT(v.value, GREATEST(CAST(LENGTH(v.value) AS INTEGER) - {{ number }}, 0))
        || REPEAT('*', LEAST(CAST(LENGTH(v.value) AS INTEGER), {{ number }})) AS label{{ loop.index }}
{% endfor %}
FROM {{ values | table }} AS v
WHERE v.value IS NOT NULL
