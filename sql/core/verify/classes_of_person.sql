-- name: verify/classes_of_person
-- params: target (table), classes (column names; none: all rows are one class), person
--   (column with a number of each person, never NULL)
-- returns: reached bigint (the classes of the person who has rows in most), failing bigint
--   (the classes that have a row of a person who has rows in more than :asked)
SELECT
    CAST(COALESCE(MAX(c.most), 0) AS BIGINT) AS reached
    , CAST(COALESCE(SUM(CASE WHEN c.most > :asked THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
FROM (
    SELECT MAX(p.n) AS most
    FROM (
        SELECT
{% for name in classes %}
            d.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
            COUNT(*) OVER (PARTITION BY d.person) AS n
        FROM (
            SELECT DISTINCT
{% for name in classes %}
                t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
                t.{{ person | ident }} AS person
            FROM {{ target | table }} AS t
        ) AS d
    ) AS p
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}p.g{{ loop.index }}{% endfor %}
{% endif %}

) AS c
