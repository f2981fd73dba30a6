-- name: best/boxes
-- params: work, assign (tables: rid; rid and class), levels (table of the levels of classes, or none), spans (table of
--   the boxes of classes, as recode/spans makes it, or none: those of their rows), columns
--   (list of {code, counted: bool})
-- returns: class integer, n bigint, then for each column its least and greatest code, how many
--   codes there are (0 where not counted), and its level (-1: none given); ascending classes
SELECT a.class AS class, COUNT(*) AS n
{% for c in columns %}
, MIN({{ "s.lo_" if spans else "w." }}{{ c.code }}) AS lo_{{ c.code }}
, MAX({{ "s.hi_" if spans else "w." }}{{ c.code }}) AS hi_{{ c.code }}
, {{ "COUNT(DISTINCT w." ~ c.code ~ ")" if c.counted else "0" }} AS of_{{ c.code }}
, {{ "COALESCE(MIN(l." ~ c.code ~ "), -1)" if levels else "-1" }} AS at_{{ c.code }}
{% endfor %}
FROM {{ assign | table }} AS a
JOIN {{ work | table }} AS w ON w.rid = a.rid
{% if levels %}
LEFT JOIN {{ levels | table }} AS l ON l.class = a.class
{% endif %}
{% if spans %}
LEFT JOIN {{ spans | table }} AS s ON s.class = a.class
{% endif %}
GROUP BY a.class
ORDER BY a.class
