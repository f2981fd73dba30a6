-- name: risk/weights
-- params: target (table), classes (column names; none: all rows are one class), weight (column name)
-- returns: n bigint (rows of a class), w double (the sum of their weights), classes bigint
--   (how many have these n and w)
SELECT c.n AS n, c.w AS w, COUNT(*) AS classes
FROM (
    SELECT COUNT(*) AS n, SUM(CAST(t.{{ weight | ident }} AS DOUBLE)) AS w
    FROM {{ target | table }} AS t
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

{% endif %}
    HAVING COUNT(*) > 0
) AS c
GROUP BY c.n, c.w
