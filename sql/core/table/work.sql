-- name: table/work
-- params: work (table to make; none: it is only asked for), stage (table), columns (list of {alias, domain, type,
--   nulls, as_float, as_text, listed (the type as which it is staged, or none), code, dense (bool: integers of a small
--   range), and with words word, shift, and place in the list, from 1}), words (how many; 0: none), blocks (bool, on
--   PostgreSQL with words: more rows than a value can hold the words of), span (bool, where it is only asked for: only
--   rid from :first to before :past), carried (with words: further columns of the stage; or none), among (table of rid:
--   only rows in it; or none; not on PostgreSQL), one_in (with words: a sample of one row in so many; 1: all rows)
-- returns: rid integer, one code column per column (smallint or integer), never NULL. With words: bigint w0, w1, ..
--   in place of the codes, each the sum of codes, shifted to their places. On PostgreSQL there is no rid then, but
--   in the first word, and a word is a bytea, the 8 bytes of each row in turn. A row without a code is not in it.
-- A sample is spread evenly over the row ids: multiples of the golden section lie so between two whole numbers (Weyl).
{% macro code(column, place) %}
{% if column.nulls %}COALESCE(d{{ place }}.code, 0){% else %}d{{ place }}.code{% endif %}
{% endmacro %}
{% if work %}
CREATE {{ work | scratch }} AS
{% endif %}
SELECT
    s.rid AS rid
{% for column in columns if not words %}
    , CAST({{ code(column, loop.index) }} AS {{ column.type }}) AS {{ column.code }}
{% endfor %}
{% if words %}
{% for word, some in columns | groupby("word") %}
    ,
{% for column in some %}
        {{ " + " if not loop.first }}(CAST({{ code(column, column.place) }} AS BIGINT) << {{ column.shift }})
{% endfor %}
        AS w{{ word }}
{% endfor %}
{% for column in carried %}
    , s.{{ column }} AS {{ column }}
{% endfor %}
{% endif %}
FROM {{ stage | table }} AS s
{% for column in columns %}
{{ "LEFT JOIN" if column.nulls else "JOIN" }} {{ column.domain | table }} AS d{{ loop.index }}
{% if column.as_float %}
    ON d{{ loop.index }}.value = s.{{ column.alias | ident }} + 0
{% elif column.listed %}
    ON CAST(d{{ loop.index }}.value AS {{ column.listed | table }}) = s.{{ column.alias | ident }}
{% elif column.as_text %}
    ON d{{ loop.index }}.value = CAST(s.{{ column.alias | ident }} AS VARCHAR)
{% else %}
    ON d{{ loop.index }}.value = s.{{ column.alias | ident }}
{% endif %}
{% endfor %}
{% if not work and span %}
WHERE s.rid >= :first AND s.rid < :past
{% elif among %}
WHERE s.rid IN (SELECT x.rid FROM {{ among | table }} AS x)
{% elif words and one_in > 1 %}
WHERE MOD(CAST(s.rid AS BIGINT) * 1327217884, 2147483647) < {{ 2147483647 // one_in }}
{% endif %}
