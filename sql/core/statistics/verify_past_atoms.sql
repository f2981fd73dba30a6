-- name: statistics/verify_past_atoms
-- params: whole (the atoms of all rows), atoms (as statistics/past_atoms makes it), columns (list)
-- returns: failing bigint: finest combinations that do not have the rows of all versions together, and numbers that are not right
SELECT COUNT(*) AS failing
FROM (
    SELECT SUM(a.n) AS n, SUM(a.persons) AS persons, MIN(a.n) AS least, MAX(CASE WHEN a.persons = 1 AND a.owner = a.atom OR a.persons > 1 AND a.owner = -1 THEN 0 ELSE 1 END) AS wrong{% for c in columns %}, a.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

    FROM {{ atoms | table }} AS a
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}a.v{{ loop.index }}_0{% endfor %}

) AS g
FULL JOIN {{ whole | table }} AS w ON w.n = g.n AND w.persons = g.persons{% for c in columns %} AND w.v{{ loop.index }}_0 = g.v{{ loop.index }}_0{% endfor %}

WHERE w.n IS NULL OR g.n IS NULL OR g.least < 1 OR g.wrong = 1
