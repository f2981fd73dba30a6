-- name: regular/cell
-- params: cell (table to make), cells (table), code (its column is called so after
--   _sqlanon_), names (the published columns of a quasi column)
-- returns: _sqlanon_class integer (the number of a cell), those columns: each cell once
CREATE {{ cell | scratch }} AS
SELECT DISTINCT
    t._sqlanon_{{ code }} AS _sqlanon_class
{% for name in names %}
    , t.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
FROM {{ cells | table }} AS t
