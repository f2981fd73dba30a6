-- name: table/numbered
-- params: stage (view to make), placed (table: the staged rows without row ids), before
--   (table: the rows before each part), columns (list of the staged columns)
-- returns: rid integer, from 0, the columns of the staged rows
CREATE TEMPORARY VIEW {{ stage.name | ident }} AS
SELECT CAST(b.before + (t._sqlanon_at & 8589934591) AS INT) AS rid
{%- for column in columns %}
    , t.{{ column | ident }}
{%- endfor %}
FROM {{ placed | table }} AS t
JOIN {{ before | table }} AS b ON b.part = SHIFTRIGHT(t._sqlanon_at, 33)
