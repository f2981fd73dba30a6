-- name: attack/victims
-- params: placed, work (tables), columns (of codes)
-- returns: the columns integer, published integer (0: the version left these rows out), n
--   bigint: each tuple once, and how many rows of the version have it
SELECT
{% for c in columns %}
    CAST(w.{{ c }} AS INTEGER) AS {{ c }},
{% endfor %}
    CAST(p.published AS INTEGER) AS published
    , COUNT(*) AS n
FROM (SELECT t.rid AS rid, CASE WHEN t.place < 0 THEN 0 ELSE 1 END AS published FROM {{ placed | table }} AS t) AS p
JOIN {{ work | table }} AS w ON w.rid = p.rid
GROUP BY {% for c in columns %}w.{{ c }}, {% endfor %}p.published
