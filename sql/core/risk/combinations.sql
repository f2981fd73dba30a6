-- name: risk/combinations
-- params: combinations (table to make), target (table), classes (at least one {name, place}: a column and its number)
-- returns: number bigint (1 up), g<place> (the values of each column), n bigint (rows with these values)
CREATE {{ combinations | scratch }} AS
SELECT
    ROW_NUMBER() OVER () AS number
    ,
{% for one in classes %}
    k.g{{ one.place }} AS g{{ one.place }},
{% endfor %}
    k.n AS n
FROM (
    SELECT {% for one in classes %}t.{{ one.name | ident }} AS g{{ one.place }}, {% endfor %}COUNT(*) AS n
    FROM {{ target | table }} AS t
    GROUP BY {% for one in classes %}{{ ", " if not loop.first }}t.{{ one.name | ident }}{% endfor %}

) AS k
