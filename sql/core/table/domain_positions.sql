-- name: table/domain_positions
-- params: domain (table)
-- returns: code integer, pos integer
SELECT d.code AS code, d.pos AS pos
FROM {{ domain | table }} AS d
