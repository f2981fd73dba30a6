-- name: noisy/crossed
-- params: single (table, as noisy/single makes it), codes (three aliases of codes)
-- returns: the three codes and n, all bigint: rows of each combination that occurs
SELECT {% for code in codes %}CAST(s.{{ code }} AS BIGINT) AS {{ code }}, {% endfor %}COUNT(*) AS n
FROM {{ single | table }} AS s
GROUP BY {% for code in codes %}{{ ", " if not loop.first }}s.{{ code }}{% endfor %}

ORDER BY {% for code in codes %}{{ ", " if not loop.first }}s.{{ code }}{% endfor %}

