-- name: verify/labels
-- params: released (table), column (published name)
-- returns: label text: every label of one column, once
SELECT r.{{ column | ident }} AS label
FROM {{ released | table }} AS r
GROUP BY r.{{ column | ident }}
