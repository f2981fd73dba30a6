-- name: verify/within
-- params: classed, released (tables), columns (list of {alias, names}: of numbers and dates)
-- returns: n bigint (staged rows that reach the release), outside bigint (classes with a value outside of the ends that are released)
-- Compares the least and greatest staged original value of a class with its released ends. It knows nothing of codes or methods.
SELECT
    CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(CASE WHEN TRUE
{% for c in columns %}
{% set i = loop.index %}
        AND COALESCE(
            CASE {% if c.names.null %}WHEN r.{{ c.names.null | ident }} = 'some' THEN TRUE WHEN r.{{ c.names.null | ident }} = 'all' THEN g.known{{ i }} = 0 {% endif %}WHEN g.known{{ i }} = g.n THEN
                g.least{{ i }} >= r.{{ c.names.lo | ident }} AND g.greatest{{ i }} <= r.{{ c.names.hi | ident }}
            END
        , FALSE)
{% endfor %}
        THEN 0 ELSE 1 END), 0) AS BIGINT) AS outside
FROM (
    SELECT
        s.class AS class
        , COUNT(*) AS n
{% for c in columns %}
        , COUNT(s.{{ c.alias }}) AS known{{ loop.index }}
        , MIN(s.{{ c.alias }}) AS least{{ loop.index }}
        , MAX(s.{{ c.alias }}) AS greatest{{ loop.index }}
{% endfor %}
    FROM {{ classed | table }} AS s
    GROUP BY s.class
) AS g
JOIN {{ released | table }} AS r ON r._sqlanon_class = g.class
