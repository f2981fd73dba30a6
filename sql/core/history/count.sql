-- name: history/count
-- params: tables (of person)
-- returns: n bigint: the persons of all the tables, each once
SELECT COUNT(*) AS n
FROM (
{% for one in tables %}
    {{ "UNION" if not loop.first }}
    SELECT t.person AS person FROM {{ one | table }} AS t
{% endfor %}
) AS u
