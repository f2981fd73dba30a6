-- name: statistics/verify_growth
-- params: keyed (table, as statistics/verify_rows makes it, of all staged rows), atoms (private table with batches), columns (list)
-- returns: failing bigint: finest combinations whose rows in the source are not those of all versions together, and combinations without rows
SELECT COUNT(*) AS failing
FROM (
    SELECT COUNT(*) AS n{% for c in columns %}, k.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

    FROM {{ keyed | table }} AS k
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}k.v{{ loop.index }}_0{% endfor %}

) AS f
FULL JOIN (
    SELECT SUM(a.n) AS n, MIN(a.n) AS least{% for c in columns %}, a.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

    FROM {{ atoms | table }} AS a
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}a.v{{ loop.index }}_0{% endfor %}

) AS t ON {% for c in columns %}{{ " AND " if not loop.first }}t.v{{ loop.index }}_0 = f.v{{ loop.index }}_0{% endfor %}

WHERE f.n IS NULL OR t.n IS NULL OR f.n <> t.n OR t.least < 1
