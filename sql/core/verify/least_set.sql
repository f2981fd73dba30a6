-- name: verify/least_set
-- params: matched (table of class and the staged originals: every row once for each box),
--   released (table), alias (the original), value, null (published columns; null may be
--   none), claims (table of member, label; or none: value is an array)
-- returns: wide bigint: boxes that publish another number of values than their rows have, or
--   whose NULLs are not as theirs. That each value of a row is among them is another check.
{% if length is not defined %}
{% macro length() %}ARRAY_LENGTH(r.{{ value | ident }}, 1){% endmacro %}
{% endif %}
SELECT CAST(COALESCE(SUM(CASE WHEN
{% if claims %}
    CASE r.{{ value | ident }}
        WHEN '*' THEN g.nulls > 0 AND g.nulls < g.n
        WHEN 'NULL' THEN g.nulls = g.n
        ELSE g.nulls = 0 AND g.size = COALESCE(o.size, 0)
    END
{% elif null %}
    CASE r.{{ null | ident }}
        WHEN 'some' THEN g.nulls > 0 AND g.nulls < g.n
        WHEN 'all' THEN g.nulls = g.n
        ELSE g.nulls = 0 AND g.size = COALESCE({{ length() }}, 0)
    END
{% else %}
    g.nulls = 0 AND g.size = COALESCE({{ length() }}, 0)
{% endif %}
    THEN 0 ELSE 1 END), 0) AS BIGINT) AS wide
FROM (
    SELECT
        s.class AS class
        , COUNT(*) AS n
        , COUNT(*) - COUNT(s.{{ alias }}) AS nulls
        , COUNT(DISTINCT s.{{ alias }}) AS size
    FROM {{ matched | table }} AS s
    GROUP BY s.class
) AS g
JOIN {{ released | table }} AS r ON r._sqlanon_class = g.class
{% if claims %}
LEFT JOIN (SELECT c.label AS label, COUNT(*) AS size FROM {{ claims | table }} AS c GROUP BY c.label) AS o
    ON o.label = r.{{ value | ident }}
{% endif %}
