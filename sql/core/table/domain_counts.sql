-- name: table/domain_counts
-- params: domains (tables)
-- returns: place integer (of the domain in the list), code integer, n bigint: rows of
--   every value of each column, NULL's included; in any order
SELECT a.place AS place, a.code AS code, a.n AS n
FROM (
{% for domain in domains %}
{{ "UNION ALL" if not loop.first }}
SELECT CAST({{ loop.index }} AS INTEGER) AS place, d.code AS code, d.n AS n
FROM {{ domain | table }} AS d
{% endfor %}
) AS a
