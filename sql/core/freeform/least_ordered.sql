-- name: freeform/least_ordered
-- params: matched (table of class and the staged originals: every row once for each box), released (table), alias (the original), lo, hi, null
--   (published columns; null may be none), claims (table of low, high, label; or none: lo and hi are values), type (that texts are cast to),
--   as_text (bool: originals are compared as text), ranks (table of value, rank; or none), boolean (bool: values are)
-- returns: wide bigint: boxes whose published ends are not the least and greatest value of their rows, or whose NULLs are not as theirs
{% macro number(x) %}{{ "CASE WHEN " ~ x ~ " THEN 1 WHEN NOT " ~ x ~ " THEN 0 END" if boolean else x }}{% endmacro %}
{% set raw = "CAST(s." ~ alias ~ " AS VARCHAR)" if as_text else "s." ~ alias %}
{% set value = "k.rank" if ranks else number(raw) %}
{% set low = "l.rank" if ranks else number("CAST(o.low AS " ~ type ~ ")" if claims else "r." ~ (lo | ident)) %}
{% set high = "h.rank" if ranks else number("CAST(o.high AS " ~ type ~ ")" if claims else "r." ~ (hi | ident)) %}
SELECT CAST(COALESCE(SUM(CASE WHEN
{% if claims %}
    CASE r.{{ lo | ident }} WHEN '*' THEN g.nulls > 0 AND g.nulls < g.n WHEN 'NULL' THEN g.nulls = g.n ELSE
        g.nulls = 0 AND COALESCE({{ low }} = g.least AND {{ high }} = g.greatest, FALSE) END
{% elif null %}
    CASE r.{{ null | ident }} WHEN 'some' THEN g.nulls > 0 AND g.nulls < g.n WHEN 'all' THEN g.nulls = g.n ELSE
        g.nulls = 0 AND COALESCE({{ low }} = g.least AND {{ high }} = g.greatest, FALSE) END
{% else %}
    g.nulls = 0 AND COALESCE({{ low }} = g.least AND {{ high }} = g.greatest, FALSE)
{% endif %}
    THEN 0 ELSE 1 END), 0) AS BIGINT) AS wide
FROM (
    SELECT s.class AS class, COUNT(*) AS n, COUNT(*) - COUNT(s.{{ alias }}) AS nulls, MIN({{ value }}) AS least, MAX({{ value }}) AS greatest
    FROM {{ matched | table }} AS s
{% if ranks %}
    LEFT JOIN {{ ranks | table }} AS k ON k.value = {{ raw }}
{% endif %}
    GROUP BY s.class
) AS g
JOIN {{ released | table }} AS r ON r._sqlanon_class = g.class
{% if claims %}
LEFT JOIN {{ claims | table }} AS o ON o.label = r.{{ lo | ident }}
{% endif %}
{% if ranks %}
LEFT JOIN {{ ranks | table }} AS l ON l.value = {{ "o.low" if claims else "r." ~ (lo | ident) }}
LEFT JOIN {{ ranks | table }} AS h ON h.value = {{ "o.high" if claims else "r." ~ (hi | ident) }}
{% endif %}
