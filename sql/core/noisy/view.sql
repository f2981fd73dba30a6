-- name: noisy/view
-- params: physical (table to make), drawn (table of noisy numbers), columns (names), night
--   (rows up to this night; none: all)
-- returns: the published table: the columns of the drawn one but its order, in that order
CREATE TABLE {{ physical | table }} AS
SELECT {% for name in columns %}{{ ", " if not loop.first }}d.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ drawn | table }} AS d
{% if night %}WHERE d.{{ "night" | ident }} <= {{ night }}{% endif %}

ORDER BY d.{{ "_sqlanon_order" | ident }}
