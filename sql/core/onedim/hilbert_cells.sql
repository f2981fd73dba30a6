-- name: onedim/hilbert_cells
-- params: part (table to make), work (table), axes (list of {code, table}: a QI code
--   column and its small table of code, cell)
-- returns: rid integer, and per axis its code column's name: the cell of every row on it
CREATE {{ part | scratch }} AS
SELECT
    w.rid AS rid
{% for axis in axes %}
    , a{{ loop.index }}.cell AS {{ axis.code }}
{% endfor %}
FROM {{ work | table }} AS w
{% for axis in axes %}
JOIN {{ axis.table | table }} AS a{{ loop.index }} ON a{{ loop.index }}.code = w.{{ axis.code }}
{% endfor %}
