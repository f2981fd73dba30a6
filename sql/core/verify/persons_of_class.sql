-- name: verify/persons_of_class
-- params: target (table), classes (column names; none: all rows are one class), person
--   (column with a number of each person, never NULL)
-- returns: reached bigint (the fewest persons who have rows in a class), failing bigint (classes of fewer than :asked)
SELECT
    CAST(COALESCE(MIN(g.persons), 0) AS BIGINT) AS reached
    , CAST(COALESCE(SUM(CASE WHEN g.persons < :asked THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
FROM (
    SELECT COUNT(DISTINCT t.{{ person | ident }}) AS persons
    FROM {{ target | table }} AS t
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

{% endif %}
) AS g
