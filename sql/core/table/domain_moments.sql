-- name: table/domain_moments
-- params: domain (table), ordinals (table of value, ord)
-- returns: code integer, ord (exact integer; NULL where the value is infinite): dates and timestamps as numbers
SELECT d.code AS code, o.ord AS ord
FROM {{ domain | table }} AS d
JOIN {{ ordinals | table }} AS o ON o.value = d.value
