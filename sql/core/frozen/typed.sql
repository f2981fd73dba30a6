-- name: frozen/typed
-- params: typed (table to make), read (table of texts), columns (list of {name, type})
-- returns: the keys of a file with the types of the source
CREATE {{ typed | scratch }} AS
SELECT DISTINCT
{% for c in columns %}
    {{ ", " if not loop.first }}CAST(t.{{ c.name | ident }} AS {{ c.type }}) AS {{ c.name | ident }}
{% endfor %}
FROM {{ read | table }} AS t
