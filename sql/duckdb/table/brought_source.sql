-- name: table/brought_source
-- params: source (table to make), brought (table: staged rows of another database), columns (list of {alias, name})
-- returns: the rows of the source, with some of its columns
CREATE TABLE {{ source | table }} AS
SELECT b.rowid AS _sqlanon_row{% for c in columns %}, b.{{ c.alias | ident }} AS {{ c.name | ident }}{% endfor %}

FROM {{ brought | table }} AS b
