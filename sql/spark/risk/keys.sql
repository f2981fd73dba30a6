-- name: risk/keys
-- A WITH is not computed once here: every join with it would group the table again.
SELECT
{% for one in classes %}
    CASE
        WHEN k.g{{ one.place }} IS NULL
{% if one.starred %}
            OR CAST(k.g{{ one.place }} AS STRING) = '*'
{% endif %}
            THEN 0
        ELSE DENSE_RANK() OVER (ORDER BY k.g{{ one.place }} NULLS FIRST)
    END AS c{{ one.place }}
    ,
{% endfor %}
    k.n AS n
FROM (
    SELECT {% for one in classes %}t.{{ one.name | ident }} AS g{{ one.place }}, {% endfor %}COUNT(*) AS n
    FROM {{ target | table }} AS t
    GROUP BY {% for one in classes %}{{ ", " if not loop.first }}t.{{ one.name | ident }}{% endfor %}

) AS k
