-- name: verify/class_sums
-- params: sums (table to make), classed (table with columns rid and link), columns (as in
--   verify/least_values, without bits and ranks), linked (columns that are hashed with the
--   link; see table/links), kept (columns that are published as they are)
-- returns: class, n bigint, per column the number of its values, the least and the
--   greatest of them (n1, least1, greatest1, ..), links: the part of the class in the sum
--   of table/links, kept: the sum of the hashes of the kept columns of its rows
{% macro number(x, c) %}
{{ "CASE WHEN " ~ x ~ " THEN 1 WHEN NOT " ~ x ~ " THEN 0 END" if c.boolean else x }}
{% endmacro %}
{% macro raw(c) %}{{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias }}{% endmacro %}
CREATE {{ sums | scratch }} AS
SELECT s.class AS class, COUNT(*) AS n
{% for c in columns %}
    , COUNT(s.{{ c.alias }}) AS n{{ loop.index }}
    , MIN({{ number(raw(c), c) }}) AS least{{ loop.index }}
    , MAX({{ number(raw(c), c) }}) AS greatest{{ loop.index }}
{% endfor %}
    , SUM(CAST(HASH(s.rid, s.link{% for column in linked %}, s.{{ column | ident }}{% endfor %}) AS HUGEINT)) AS links
    , SUM(CAST(
{% if kept %}
        HASH({% for column in kept %}{{ ", " if not loop.first }}s.{{ column | ident }}{% endfor %})
{% else %}
        0
{% endif %}
        AS HUGEINT
    )) AS kept
FROM {{ classed | table }} AS s
GROUP BY s.class
