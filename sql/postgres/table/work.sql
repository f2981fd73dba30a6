-- name: table/work
-- params: work (table to make; none: it is only asked for), stage (table), columns (list of {alias, domain, type, nulls, as_float, as_text,
--   listed (the type as which it is staged, or none), code, dense (bool: integers of a small range)}), span (bool: only rid from :first to
--   before :past)
-- returns: rid integer, one code column per column (smallint or integer), never NULL
-- The codes of a small range are an array, whose places are read in half the time that a join takes. It has no NULLs: PostgreSQL then
-- computes where a place is.
{% if work %}
CREATE {{ work | scratch }} AS
{% endif %}
SELECT
    s.rid AS rid
{% for column in columns %}
{% set d = "d" ~ loop.index %}
{% if column.dense %}
{% set code %}(
        SELECT array_agg(CAST(COALESCE({{ d }}.code, 0) AS {{ column.type }}) ORDER BY g.value)
        FROM (SELECT CAST(MIN(v.value) AS bigint) AS low, CAST(MAX(v.value) AS bigint) AS high FROM {{ column.domain | table }} AS v) AS e
        CROSS JOIN generate_series(e.low, e.high) AS g(value)
        LEFT JOIN {{ column.domain | table }} AS {{ d }} ON {{ d }}.value = g.value
    )[CAST(s.{{ column.alias | ident }} - (SELECT CAST(MIN(v.value) AS bigint) FROM {{ column.domain | table }} AS v) AS integer) + 1]{% endset %}
{% else %}
{% set code = d ~ ".code" %}
{% endif %}
{% if column.nulls %}
    , CAST(COALESCE({{ code }}, 0) AS {{ column.type }}) AS {{ column.code }}
{% else %}
    , CAST({{ code }} AS {{ column.type }}) AS {{ column.code }}
{% endif %}
{% endfor %}
FROM {{ stage | table }} AS s
{% for column in columns %}
{% if not column.dense %}
{% set d = "d" ~ loop.index %}
{{ "LEFT JOIN" if column.nulls else "JOIN" }} {{ column.domain | table }} AS {{ d }}
{% if column.as_float %}
    ON {{ d }}.value = s.{{ column.alias | ident }} + 0
{% elif column.as_text %}
    ON {{ d }}.value = CAST(s.{{ column.alias | ident }} AS text) COLLATE "C"
{% else %}
    ON {{ d }}.value = s.{{ column.alias | ident }}
{% endif %}
{% endif %}
{% endfor %}
{% if span %}
WHERE s.rid >= :first AND s.rid < :past
{% endif %}
