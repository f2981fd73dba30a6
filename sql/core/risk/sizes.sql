-- name: risk/sizes
-- params: target (table), classes (column names; none: all rows are one class), persons
--   (columns that name persons; none: every row is one)
-- returns: n bigint (rows of a class, or the fewest persons by one of the columns, NULLs
--   being one), held bigint (in such classes), classes bigint (how many have this n)
SELECT c.n AS n, CAST(SUM(c.held) AS BIGINT) AS held, COUNT(*) AS classes
FROM (
    SELECT COUNT(*) AS held
        ,
{% if persons %}
            LEAST(
{% for name in persons %}
                {{ ", " if not loop.first }}COUNT(DISTINCT t.{{ name | ident }})
                    + MAX(CASE WHEN t.{{ name | ident }} IS NULL THEN 1 ELSE 0 END)
{% endfor %}
            )
{% else %}
            COUNT(*)
{% endif %}
            AS n
    FROM {{ target | table }} AS t
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

{% endif %}
    HAVING COUNT(*) > 0
) AS c
GROUP BY c.n
