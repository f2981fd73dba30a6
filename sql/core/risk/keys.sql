-- name: risk/keys
-- params: target (table), classes (column names, at least one), starred (those whose * is a wildcard as well)
-- returns: one bigint per column (0: NULL or *, else the rank of the value), n bigint (rows with these values)
SELECT {% for name in classes %}CASE WHEN k.g{{ loop.index }} IS NULL{% if name in starred %} OR CAST(k.g{{ loop.index }} AS VARCHAR) = '*'{% endif %} THEN 0 ELSE DENSE_RANK() OVER (ORDER BY k.g{{ loop.index }} NULLS FIRST) END AS c{{ loop.index }}, {% endfor %}k.n AS n
FROM (
    SELECT {% for name in classes %}t.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}COUNT(*) AS n
    FROM {{ target | table }} AS t
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

) AS k
