-- name: fulldomain/outside
-- params: classes, matched (tables), columns (code columns), joined (classes that join those that fail)
-- returns: n bigint (rows of the suppressed classes), outside bigint (rows of the population in no other class)
SELECT
    CAST(COALESCE(SUM(CASE WHEN c.place <= {{ joined }} THEN m.n ELSE 0 END), 0) AS BIGINT) AS n
    , CAST(MAX(m.outside) + SUM(CASE WHEN c.place <= {{ joined }} THEN m.population ELSE 0 END) AS BIGINT) AS outside
FROM {{ classes | table }} AS c
JOIN {{ matched | table }} AS m ON
{% for c in columns %}
    {{ " AND " if not loop.first }}m.{{ c }} = c.{{ c }}
{% endfor %}
