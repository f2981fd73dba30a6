-- name: table/work
-- The codes of a small range are an array, whose places are read in half the time that a join
-- takes. It has no NULLs: PostgreSQL then computes where a place is. To send a row takes as long
-- as to encode it, and to shift a code of every row longer than to shift those of the domain.
{% macro placed(code, column) %}
CAST({{ code }} AS {{ "bigint" if words else column.type }})
{% if words and column.shift %}
    << {{ column.shift }}
{% endif %}
{% endmacro %}
{% macro code(column, d) %}
{% if column.dense %}
(
        SELECT array_agg({{ placed("COALESCE(%s.code, 0)" % d, column) }} ORDER BY g.value)
        FROM (
            SELECT CAST(MIN(v.value) AS bigint) AS low, CAST(MAX(v.value) AS bigint) AS high
            FROM {{ column.domain | table }} AS v
        ) AS e
        CROSS JOIN generate_series(e.low, e.high) AS g(value)
        LEFT JOIN {{ column.domain | table }} AS {{ d }} ON {{ d }}.value = g.value
    )[CAST(
        s.{{ column.alias | ident }} - (
            SELECT CAST(MIN(v.value) AS bigint)
            FROM {{ column.domain | table }} AS v
        ) AS integer
    ) + 1]
{%- else %}
{{ d }}.code
{%- endif %}
{% endmacro %}
{% macro number(column, d) %}
{% if column.nulls %}COALESCE({{ code(column, d) }}, 0){% else %}{{ code(column, d) }}{% endif %}
{% endmacro %}
{% if work %}
CREATE {{ work | scratch }} AS
{% endif %}
SELECT
{% if words %}
{% for word in range(words) %}
    {{ ", " if word }}string_agg(int8send(
        {{ "CAST(s.rid AS bigint)" if word == 0 }}
{% for column in columns if column.word == word %}
        {{ " + " if word == 0 or not loop.first }}{{ number(column, "d%d" % (columns.index(column) + 1)) }}
{% endfor %}
    ), '') AS w{{ word }}
{% endfor %}
{% else %}
    s.rid AS rid
{% for column in columns %}
    , CAST({{ number(column, "d%d" % loop.index) }} AS {{ column.type }}) AS {{ column.code }}
{% endfor %}
{% endif %}
FROM {{ stage | table }} AS s
{% for column in columns %}
{% if not column.dense %}
{% set d = "d" ~ loop.index %}
{{ "LEFT JOIN" if column.nulls else "JOIN" }} {% if words %}(
    SELECT v.value AS value, {{ placed("v.code", column) }} AS code
    FROM {{ column.domain | table }} AS v
){% else %}{{ column.domain | table }}{% endif %} AS {{ d }}
{% if column.as_float %}
    ON {{ d }}.value = s.{{ column.alias | ident }} + 0
{% elif column.as_text %}
    ON {{ d }}.value = CAST(s.{{ column.alias | ident }} AS text) COLLATE "C"
{% else %}
    ON {{ d }}.value = s.{{ column.alias | ident }}
{% endif %}
{% endif %}
{% endfor %}
{% if words and span %}
WHERE s.rid >= :first AND s.rid < :past
{% endif %}
{% if words and blocks %}
GROUP BY s.rid >> 24
{% endif %}
