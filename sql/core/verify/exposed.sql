-- name: verify/exposed
-- params: classed (table), groups ({table, key, group, alone (bool: no two classes publish the same)}), also
--   (aliases of columns that divide classes), bounds (classes at which groups are counted apart, ascending: so
--   they take little memory, where the rows are in the order of their classes; none if classes publish the same)
-- returns: fewest bigint (rows of the smallest group), alone bigint (groups of one row), n
--   bigint (rows), groups bigint: a reader's groups, as classes that publish the same are one
SELECT
    CAST(COALESCE(MIN(g.n), 0) AS BIGINT) AS fewest
    , CAST(COALESCE(SUM(CASE WHEN g.n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS alone
    , CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
    , COUNT(*) AS groups
FROM (
{% for part in range(bounds | length + 1) %}
    {{ "UNION ALL" if part }}
    SELECT COUNT(*) AS n
    FROM {{ classed | table }} AS s
{% if not groups.alone %}
    JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
{% endif %}
{% if bounds %}
    WHERE {{ "s.class >= %d" % bounds[part - 1] if part }}{{ " AND " if part and not loop.last }}
    {{ "s.class < %d" % bounds[part] if not loop.last }}
{% endif %}
    GROUP BY {{ "s.class" if groups.alone else "r." ~ groups.group }}{% for name in also %}, s.{{ name }}{% endfor %}

{% endfor %}
) AS g
