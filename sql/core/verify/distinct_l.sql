-- name: verify/distinct_l
-- params: target (table), classes (column names), within (other sensitive columns, for joint), sensitive (column name)
-- returns: reached bigint (fewest distinct values in a class, NULL counting as one), failing bigint
SELECT
    CAST(COALESCE(MIN(g.n), 0) AS BIGINT) AS reached
    , CAST(COALESCE(SUM(CASE WHEN g.n < :asked THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
FROM (
    SELECT COUNT(*) AS n
    FROM (
        SELECT
{% for name in classes + within %}
            t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
            COUNT(*) AS repeats
        FROM {{ target | table }} AS t
        GROUP BY {% for name in classes + within %}t.{{ name | ident }}, {% endfor %}t.{{ sensitive | ident }}
    ) AS v
{% if classes + within %}
    GROUP BY {% for name in classes + within %}{{ ", " if not loop.first }}v.g{{ loop.index }}{% endfor %}
{% endif %}
) AS g
