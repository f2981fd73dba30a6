-- name: verify/exposed
-- params: classed (table), groups ({table, key, group, alone (bool: no two classes publish the same)}), also
--   (aliases of columns that divide classes)
-- returns: fewest bigint (rows of the smallest group), alone bigint (groups of one row), n
--   bigint (rows), groups bigint: a reader's groups, as classes that publish the same are one
SELECT
    CAST(COALESCE(MIN(g.n), 0) AS BIGINT) AS fewest
    , CAST(COALESCE(SUM(CASE WHEN g.n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS alone
    , CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
    , COUNT(*) AS groups
FROM (
    SELECT COUNT(*) AS n
    FROM {{ classed | table }} AS s
{% if not groups.alone %}
    JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
{% endif %}
    GROUP BY {{ "s.class" if groups.alone else "r." ~ groups.group }}{% for name in also %}, s.{{ name }}{% endfor %}

) AS g
