-- name: statistics/verify_past_atoms
-- params: whole (the atoms of all rows), atoms (as statistics/past_atoms makes it),
--   columns (list), parts (names of columns, or none)
-- returns: failing bigint: finest combinations that do not have the rows of all versions together,
--   and numbers that are not right; where no atoms are parts, a combination of a version has one
SELECT COUNT(*) AS failing
FROM (
    SELECT
        SUM(d.n) AS n
        , SUM(d.persons) AS persons
        , MAX(d.wrong) AS wrong
{% for c in columns %}
        , d.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
    FROM (
        SELECT
            SUM(a.n) AS n
            , SUM(a.persons) AS persons
            , CASE WHEN SUM(a.n) > 0 AND MIN(a.n) >= 0 AND MIN(a.whole) = MIN(a.atom) AND MAX(a.whole) = MIN(a.atom)
                AND MIN(a.owner) = MAX(a.owner)
                    AND MIN(a.owner) = CASE WHEN SUM(a.persons) = 1 THEN MIN(a.atom) ELSE -1 END
                AND SUM(a.persons) > 0
{% if parts %}
                    AND (COUNT(*) = 1 OR COUNT(a.kind) = COUNT(*))
{% else %}
                    AND COUNT(*) = 1
{% endif %}
                    THEN 0 ELSE 1 END AS wrong
{% for c in columns %}
                , a.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
        FROM {{ atoms | table }} AS a
        GROUP BY a.batch{% for c in columns %}, a.v{{ loop.index }}_0{% endfor %}

    ) AS d
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}d.v{{ loop.index }}_0{% endfor %}

) AS g
FULL JOIN {{ whole | table }} AS w ON w.n = g.n
    AND w.persons = g.persons
{% for c in columns %}
    AND w.v{{ loop.index }}_0 = g.v{{ loop.index }}_0
{% endfor %}
WHERE w.n IS NULL OR g.n IS NULL OR g.wrong = 1
