-- name: frozen/printed
-- params: read (table of texts), columns (list of {name, type})
-- returns: of every line of a file of keys each text, and the value of the source's type
--   that is made of it, as the database prints it
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}t.{{ c.name | ident }}, CAST(CAST(t.{{ c.name | ident }} AS {{ c.type }}) AS VARCHAR)
{% endfor %}
FROM {{ read | table }} AS t
