-- name: publish/declared
-- params: physical (table to make), columns (list of {name, type, runs (bool: it is stored as runs of equal values)})
-- returns: the published table, without rows
CREATE TABLE {{ physical | table }} (
{% for column in columns %}
    {{ column.name | ident }} {{ column.type }}{{ " USING COMPRESSION RLE" if column.runs }}{{ "," if not loop.last }}
{% endfor %}
)
