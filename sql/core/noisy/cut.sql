-- name: noisy/cut
-- params: coded (table, as noisy/coded makes it), bounded (table), columns (aliases of codes)
-- returns: rows in declared groups, rows that are counted, persons who have any
SELECT
    (
        SELECT COUNT(*)
        FROM {{ coded | table }} AS k
        WHERE k.person IS NOT NULL{% for c in columns %} AND k.{{ c }} IS NOT NULL{% endfor %}
    ) AS had
    , (SELECT COALESCE(SUM(b.n), 0) FROM {{ bounded | table }} AS b) AS kept
    , (SELECT COUNT(DISTINCT k.person) FROM {{ coded | table }} AS k) AS persons
