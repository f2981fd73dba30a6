-- name: verify/least_values
-- params: matched (table of class and the staged originals: every row once for each box), released (table), columns
--   (list of {alias (the original), names (published columns), bits (of a set: the aggregate over rows of the bits of
--   its values; or none), said (table of verify/said_bits), claims (table of low, high, label; or none: lo and hi are
--   values), type (that texts are cast to), as_text (bool: originals are compared as text), ranks (table of value,
--   rank; or none), boolean (bool: values are)}), sums (table of verify/class_sums for these columns, or none)
-- returns: n bigint (rows that reach the release), wide bigint for each of the columns:
--   boxes whose published ends are not the least and greatest value of their rows, whose
--   set is not that of their values, or whose NULLs are not as theirs
{% macro number(x, c) %}
{{ "CASE WHEN " ~ x ~ " THEN 1 WHEN NOT " ~ x ~ " THEN 0 END" if c.boolean else x }}
{% endmacro %}
{% macro raw(c) %}{{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias }}{% endmacro %}
{% macro lo(c) %}r.{{ (c.names.lo or c.names.value) | ident }}{% endmacro %}
{% macro hi(c) %}r.{{ (c.names.hi or c.names.value) | ident }}{% endmacro %}
SELECT
    CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
{% for c in columns %}
{% set i = loop.index %}
{% set low = "l" ~ i ~ ".rank" if c.ranks else number("CAST(o" ~ i ~ ".low AS " ~ c.type ~ ")" if c.claims
    else lo(c), c) %}
{% set high = "h" ~ i ~ ".rank" if c.ranks else number("CAST(o" ~ i ~ ".high AS " ~ c.type ~ ")" if c.claims
    else hi(c), c) %}
{% set same_ends = "COALESCE(" ~ low ~ " = g.least" ~ i ~ " AND " ~ high ~ " = g.greatest" ~ i ~ ", FALSE)" %}
{% set same_set = "COALESCE(b" ~ i ~ ".id = g.bits" ~ i ~ " AND b" ~ i ~ ".listed, FALSE)" %}
{% set same = "g.n" ~ i ~ " = g.n AND " ~ (same_set if c.bits else same_ends) %}
    , CAST(COALESCE(SUM(CASE WHEN
{% if c.claims %}
        CASE {{ lo(c) }}
            WHEN '*' THEN g.n{{ i }} > 0 AND g.n{{ i }} < g.n
            WHEN 'NULL' THEN g.n{{ i }} = 0
            ELSE {{ same }}
        END
{% elif c.names.null %}
        CASE r.{{ c.names.null | ident }}
            WHEN 'some' THEN g.n{{ i }} > 0 AND g.n{{ i }} < g.n
{% if not c.bits %}
                AND (({{ lo(c) }} IS NULL AND {{ hi(c) }} IS NULL) OR {{ same_ends }})
{% endif %}
            WHEN 'all' THEN g.n{{ i }} = 0
            ELSE {{ same }}
        END
{% else %}
        {{ same }}
{% endif %}
        THEN 0 ELSE 1 END), 0) AS BIGINT) AS wide{{ i }}
{% endfor %}
{% if sums %}
FROM {{ sums | table }} AS g
{% else %}
FROM (
    SELECT s.class AS class, COUNT(*) AS n
{% for c in columns %}
{% set i = loop.index %}
{% set value = "k" ~ i ~ ".rank" if c.ranks else number(raw(c), c) %}
        , COUNT(s.{{ c.alias }}) AS n{{ i }}
{% if c.bits %}
        , {{ c.bits }} AS bits{{ i }}
{% else %}
        , MIN({{ value }}) AS least{{ i }}, MAX({{ value }}) AS greatest{{ i }}
{% endif %}
{% endfor %}
    FROM {{ matched | table }} AS s
{% for c in columns %}
{% if c.ranks %}
    LEFT JOIN {{ c.ranks | table }} AS k{{ loop.index }} ON k{{ loop.index }}.value = {{ raw(c) }}
{% endif %}
{% endfor %}
    GROUP BY s.class
) AS g
{% endif %}
JOIN {{ released | table }} AS r ON r._sqlanon_class = g.class
{% for c in columns %}
{% set i = loop.index %}
{% if c.bits %}
LEFT JOIN {{ c.said | table }} AS b{{ i }} ON b{{ i }}.value = r.{{ c.names.value | ident }}
{% endif %}
{% if c.claims %}
LEFT JOIN {{ c.claims | table }} AS o{{ i }} ON o{{ i }}.label = {{ lo(c) }}
{% endif %}
{% if c.ranks %}
LEFT JOIN {{ c.ranks | table }} AS l{{ i }} ON l{{ i }}.value = {{ "o" ~ i ~ ".low" if c.claims else lo(c) }}
LEFT JOIN {{ c.ranks | table }} AS h{{ i }} ON h{{ i }}.value = {{ "o" ~ i ~ ".high" if c.claims else hi(c) }}
{% endif %}
{% endfor %}
