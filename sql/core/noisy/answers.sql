-- name: noisy/answers
-- params: bounded (table, as noisy/bounded makes it), values (list of names of its columns)
-- returns: cell, persons, and the sum of each of the values, all bigint, by cell
SELECT b.cell AS cell, COUNT(*) AS persons{% for one in values %}, CAST(SUM(b.{{ one }}) AS BIGINT) AS {{ one }}{% endfor %}

FROM {{ bounded | table }} AS b
GROUP BY b.cell
ORDER BY b.cell
