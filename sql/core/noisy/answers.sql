-- name: noisy/answers
-- params: bounded (table, as noisy/bounded makes it), values (list of names of its
--   columns), weighed (bool: persons weigh what its column p says)
-- returns: cell, persons, and the sum of each of the values, all bigint, by cell
SELECT
    b.cell AS cell
    , {% if weighed %}CAST(SUM(b.p) AS BIGINT){% else %}COUNT(*){% endif %} AS persons
{% for one in values %}
    , CAST(SUM(b.{{ one }}) AS BIGINT) AS {{ one }}
{% endfor %}
FROM {{ bounded | table }} AS b
GROUP BY b.cell
ORDER BY b.cell
