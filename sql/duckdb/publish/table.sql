-- name: publish/table
-- Where the table is declared before, it is filled. A sort that carries arrays costs
-- several times as much as one that carries their numbers. A join would lose the order of
-- the sorted rows; the product with one row, which has all arrays in a list, keeps it.
{% macro looks(c, of) %}
{% if c.kind == "other" %}
, CAST({{ of }}.{{ c.column | ident }} AS VARCHAR)
{% elif c.kind == "float" %}
, SIGNBIT({{ of }}.{{ c.column | ident }})
{% endif %}
{% endmacro %}
{% macro ordered(released) %}
FROM {{ classed | table }} AS s
JOIN {{ released }} AS r ON r._sqlanon_class = s.class
ORDER BY
    r._sqlanon_place
{% for c in published if c.source == "s" %}
    , s.{{ c.column | ident }} NULLS FIRST{{ looks(c, "s") }}
{% endfor %}
{% endmacro %}
{{ "INSERT INTO" if declared else "CREATE TABLE" }} {{ physical | table }}{{ " AS" if not declared }}
{% if repeated %}
WITH
{% for name in repeated %}
{{ ", " if not loop.first }}lists{{ loop.index }} AS MATERIALIZED (
    SELECT CAST(ROW_NUMBER() OVER () AS SMALLINT) AS id, v.value AS value
    FROM (SELECT DISTINCT r.{{ name | ident }} AS value FROM {{ released | table }} AS r) AS v
)
{% endfor %}
, numbered AS MATERIALIZED (
    SELECT r._sqlanon_class AS _sqlanon_class, r._sqlanon_place AS _sqlanon_place
{% for c in published if c.source == "r" %}
        , {{ "l%d.id" % (repeated.index(c.name) + 1) if c.name in repeated
            else "r." ~ (c.column | ident) }} AS {{ c.column | ident }}
{% endfor %}
    FROM {{ released | table }} AS r
{% for name in repeated %}
    JOIN lists{{ loop.index }} AS l{{ loop.index }} ON l{{ loop.index }}.value IS NOT DISTINCT FROM r.{{ name | ident }}
{% endfor %}
)
SELECT
{% for c in published %}
    {{ ", " if not loop.first }}{{ "d.v%d[t.p%d]" % (repeated.index(c.name) + 1, loop.index) if c.name in repeated
        else "t.p%d" % loop.index }} AS {{ c.name | ident }}
{% endfor %}
FROM (
    SELECT
{% for c in published %}
        {{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS p{{ loop.index }}
{% endfor %}
    {{ ordered("numbered") }}
) AS t
CROSS JOIN (
    SELECT
{% for name in repeated %}
        {{ ", " if not loop.first }}(
            SELECT LIST(l.value ORDER BY l.id)
            FROM lists{{ loop.index }} AS l
        ) AS v{{ loop.index }}
{% endfor %}
) AS d
{% else %}
SELECT
{% for c in published %}
    {{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}
{% endfor %}
{{ ordered(released | table) }}
{% endif %}
