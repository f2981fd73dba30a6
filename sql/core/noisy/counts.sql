-- name: noisy/counts
-- params: drawn (table of noisy numbers), measure (name of its column)
-- returns: the noisy numbers of a table without totals, named :name, in the order of its groups
SELECT CAST(d.{{ measure | ident }} AS BIGINT) AS n
FROM {{ drawn | table }} AS d
WHERE d.{{ "table" | ident }} = :name
ORDER BY d.{{ "_sqlanon_order" | ident }}
