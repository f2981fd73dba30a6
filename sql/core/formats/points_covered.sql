-- name: formats/points_covered
-- params: classed, released (tables), columns (list of {alias, names, as_text})
-- returns: n bigint (staged rows that reach the release), uncovered bigint (rows of
--   classes that publish a value none of their rows has)
SELECT
    CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(CASE
        WHEN {% for c in columns %}{{ " AND " if not loop.first }}g.hit{{ loop.index }} = 1{% endfor %} THEN 0
        ELSE g.n
    END), 0) AS BIGINT) AS uncovered
FROM (
    SELECT
        s.class AS class
        , COUNT(*) AS n
{% for c in columns %}
{% set raw = "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias %}
{% set out = "r." ~ (c.names.value | ident) %}
        , MAX(CASE
            WHEN {{ "CAST(" ~ out ~ " AS VARCHAR)" if c.as_text else out }} IS NOT DISTINCT FROM {{ raw }} THEN 1
            ELSE 0
        END) AS hit{{ loop.index }}
{% endfor %}
    FROM {{ classed | table }} AS s
    JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
    GROUP BY s.class
) AS g
