-- name: verify/values
-- params: target (table), classes (column names; none: all rows are one class), value
--   (column name), count (column with the number of rows that each represents, or none)
-- returns: class bigint (0, 1, ..), value bigint (0, 1, .. by ascending values, NULL
--   first), n bigint (rows of the class with the value)
SELECT
{% if classes %}
    CAST(DENSE_RANK() OVER (
        ORDER BY {% for name in classes %}{{ ", " if not loop.first }}v.g{{ loop.index }}{% endfor %}
    ) - 1 AS BIGINT)
{% else %}
    CAST(0 AS BIGINT)
{% endif %}
    AS class
    , CAST(DENSE_RANK() OVER (ORDER BY v.value NULLS FIRST) - 1 AS BIGINT) AS value
    , CAST(v.n AS BIGINT) AS n
FROM (
    SELECT
{% for name in classes %}
        t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
        t.{{ value | ident }} AS value
        , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
    FROM {{ target | table }} AS t
    GROUP BY {% for name in classes %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
) AS v
