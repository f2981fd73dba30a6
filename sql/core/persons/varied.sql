-- name: persons/varied
-- params: units (as persons/units makes it), columns (its columns)
-- returns: rows bigint (persons), and of each column bigint: the persons whose rows have more than one code of it
SELECT
    COUNT(*) AS persons
{% for c in columns %}
    , CAST(COALESCE(SUM(CASE WHEN u.{{ c }} <> u.{{ c }}h THEN 1 ELSE 0 END), 0) AS BIGINT) AS n{{ loop.index }}
{% endfor %}
FROM {{ units | table }} AS u
