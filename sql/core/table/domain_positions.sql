-- name: table/domain_positions
-- params: domains (tables)
-- returns: place integer (of the domain in the list), code integer, pos integer; in any order
SELECT a.place AS place, a.code AS code, a.pos AS pos
FROM (
{% for domain in domains %}
{{ "UNION ALL" if not loop.first }}
SELECT CAST({{ loop.index }} AS INTEGER) AS place, d.code AS code, d.pos AS pos
FROM {{ domain | table }} AS d
{% endfor %}
) AS a
