-- name: publish/table
-- Where the table is declared before, it is filled. A sort takes time for every column that it
-- carries, several times as much for one of arrays: it carries numbers, which share words. A join
-- would lose the order of the sorted rows; the product with one row, which has the values of each
-- column in a list, keeps it.
{% macro looks(c, of) %}
{% if c.kind == "other" %}
, CAST({{ of }}.{{ c.column | ident }} AS VARCHAR)
{% elif c.kind == "float" %}
, SIGNBIT({{ of }}.{{ c.column | ident }})
{% endif %}
{% endmacro %}
{% macro number(name, at) %}
{{ "l%d.id" % at.list if at.list else "COALESCE(CAST(r.%s AS BIGINT) - (%d), 0)" % (name | ident, at.base) }}
{%- endmacro %}
{% macro value(number, at) %}
{{ "d.v%d[%s]" % (at.list, number) if at.list
    else "CAST(NULLIF(%s, 0) + (%d) AS %s)" % (number, at.base, at.type) }}
{%- endmacro %}
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
{% for name, at in repeated.items() if at.list %}
lists{{ at.list }} AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, v.value AS value
    FROM (SELECT DISTINCT r.{{ name | ident }} AS value FROM {{ released | table }} AS r) AS v
),
{% endfor %}
numbered AS MATERIALIZED (
    SELECT r._sqlanon_class AS _sqlanon_class, CAST(r._sqlanon_place AS INTEGER) AS _sqlanon_place
{% for word in repeated.values() | map(attribute="word") | unique %}
        , CAST(0 AS BIGINT)
{% for name, at in repeated.items() if at.word == word %}
            + ({{ number(name, at) }} << {{ at.shift }})
{% endfor %}
            AS _sqlanon_word{{ word }}
{% endfor %}
{% for c in published if c.source == "r" and c.name not in repeated %}
        , r.{{ c.column | ident }} AS {{ c.column | ident }}
{% endfor %}
    FROM {{ released | table }} AS r
{% for name, at in repeated.items() if at.list %}
    JOIN lists{{ at.list }} AS l{{ at.list }} ON l{{ at.list }}.value IS NOT DISTINCT FROM r.{{ name | ident }}
{% endfor %}
)
SELECT
{% for c in published %}
{% if c.name in repeated %}
{% set at = repeated[c.name] %}
    {{ ", " if not loop.first }}{{ value("((t.w%d >> %d) & %d)" % (at.word, at.shift, at.mask), at) }}
        AS {{ c.name | ident }}
{% else %}
    {{ ", " if not loop.first }}t.p{{ loop.index }} AS {{ c.name | ident }}
{% endif %}
{% endfor %}
FROM (
    SELECT
{% for word in repeated.values() | map(attribute="word") | unique %}
        {{ ", " if not loop.first }}r._sqlanon_word{{ word }} AS w{{ word }}
{% endfor %}
{% for c in published if c.name not in repeated %}
        , {{ c.source }}.{{ c.column | ident }} AS p{{ published.index(c) + 1 }}
{% endfor %}
    {{ ordered("numbered") }}
) AS t
CROSS JOIN (
    SELECT
        0 AS v0
{% for at in repeated.values() if at.list %}
        , (
            SELECT LIST(l.value ORDER BY l.id)
            FROM lists{{ at.list }} AS l
        ) AS v{{ at.list }}
{% endfor %}
) AS d
{% else %}
SELECT
{% for c in published %}
    {{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}
{% endfor %}
{{ ordered(released | table) }}
{% endif %}
