-- name: noisy/view
-- params: physical (table to make), drawn (table of noisy numbers), columns (names)
-- returns: the published table: the columns of the drawn one but its order, in that order
CREATE TABLE {{ physical | table }} AS
SELECT {% for name in columns %}{{ ", " if not loop.first }}d.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ drawn | table }} AS d
ORDER BY d.{{ "_sqlanon_order" | ident }}
