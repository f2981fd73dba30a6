-- name: table/work
-- params: work (table to make; none: it is only asked for), stage (table), columns (list of {alias, domain, type, nulls, as_float, as_text,
--   listed (the type as which it is staged, or none), code, dense (bool: integers of a small range), and where it is asked for word, shift}),
--   words (how many, where it is asked for; 0: none), blocks (bool: more rows than a value can hold the words of), span (bool: only rid from
--   :first to before :past)
-- returns: rid integer, one code column per column (smallint or integer), never NULL. Asked for: bytea per word, the 8 bytes of each row in
--   turn; a word is the sum of codes, each shifted to its place, and of rid in the first one. A row without a code is not in it.
{% if work %}
CREATE {{ work | scratch }} AS
{% endif %}
SELECT
    s.rid AS rid
{% for column in columns %}
{% if column.nulls %}
    , CAST(COALESCE(d{{ loop.index }}.code, 0) AS {{ column.type }}) AS {{ column.code }}
{% else %}
    , CAST(d{{ loop.index }}.code AS {{ column.type }}) AS {{ column.code }}
{% endif %}
{% endfor %}
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
