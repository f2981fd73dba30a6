-- name: verify/least_node
-- params: matched (table of class and the staged originals: every row once for each box), released
--   (table), alias (the original), value, null (published columns; null may be none), type (that
--   leaves are cast to), as_text (bool: originals are compared as text), paths (table of leaf, level,
--   label: the node above every leaf at every level), text (bool: NULLs are written in the value)
-- returns: wide bigint: boxes that publish another node than the least one above all their
--   rows, or whose NULLs are not as theirs
{% set raw = "CAST(s." ~ alias ~ " AS VARCHAR)" if as_text else "s." ~ alias %}
{% set known = "COALESCE(r." ~ (value | ident) ~ " = m.label, FALSE)" %}
SELECT CAST(COALESCE(SUM(CASE WHEN
{% if text %}
    CASE
        WHEN g.nulls = g.n THEN r.{{ value | ident }} = 'NULL'
        WHEN g.nulls > 0 THEN r.{{ value | ident }} = '*'
        ELSE {{ known }}
    END
{% elif null %}
    CASE r.{{ null | ident }}
        WHEN 'some' THEN g.nulls > 0 AND g.nulls < g.n
        WHEN 'all' THEN g.nulls = g.n
        ELSE g.nulls = 0 AND {{ known }}
    END
{% else %}
    g.nulls = 0 AND {{ known }}
{% endif %}
    THEN 0 ELSE 1 END), 0) AS BIGINT) AS wide
FROM (
    SELECT s.class AS class, COUNT(*) AS n, COUNT(*) - COUNT(s.{{ alias }}) AS nulls
    FROM {{ matched | table }} AS s
    GROUP BY s.class
) AS g
JOIN {{ released | table }} AS r ON r._sqlanon_class = g.class
LEFT JOIN (
    SELECT w.class AS class, MIN(w.label) AS label
    FROM (
        SELECT s.class AS class, p.level AS level, MIN(p.label) AS label
            , ROW_NUMBER() OVER (PARTITION BY s.class ORDER BY p.level) AS turn
        FROM {{ matched | table }} AS s
        JOIN {{ paths | table }} AS p ON CAST(p.leaf AS {{ type }}) = {{ raw }}
        GROUP BY s.class, p.level
        HAVING MIN(p.label) = MAX(p.label)
    ) AS w
    WHERE w.turn = 1
    GROUP BY w.class
) AS m ON m.class = g.class
