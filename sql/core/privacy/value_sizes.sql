-- name: privacy/value_sizes
-- params: made (table to make), rows (table), groups (columns), within (columns whose every combination is
--   looked at by itself), value (column), count (column with the number of rows that each represents, or none)
-- returns: g1.. (the columns of groups and within), n bigint (rows of a value there), total bigint (rows there)
CREATE {{ made | scratch }} AS
SELECT {% for name in groups + within %}c.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}CAST(c.n AS BIGINT) AS n
    , CAST(SUM(c.n) OVER (
        PARTITION BY {% for name in groups + within %}{{ ", " if not loop.first }}c.g{{ loop.index }}{% endfor %}
    ) AS BIGINT) AS total
FROM (
    SELECT
{% for name in groups + within %}
        t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
        t.{{ value | ident }} AS value
        , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
    FROM {{ rows | table }} AS t
    GROUP BY {% for name in groups + within %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
) AS c
