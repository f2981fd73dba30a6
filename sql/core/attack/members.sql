-- name: attack/members
-- params: placed, work (tables), columns (of codes)
-- returns: place integer (a class), the columns integer, n bigint: each tuple of a class
--   once, and how many of its rows have it
SELECT
    CAST(p.place AS INTEGER) AS place
    ,
{% for c in columns %}
    CAST(w.{{ c }} AS INTEGER) AS {{ c }},
{% endfor %}
    COUNT(*) AS n
FROM {{ placed | table }} AS p
JOIN {{ work | table }} AS w ON w.rid = p.rid
WHERE p.place >= 0
GROUP BY p.place{% for c in columns %}, w.{{ c }}{% endfor %}

