-- name: noisy/snapshot
-- params: copied (table to make), source (table), columns (names)
-- returns: those columns of every row
CREATE {{ copied | scratch }} AS
SELECT {% for name in columns %}{{ ", " if not loop.first }}s.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ source | table }} AS s
