-- name: verify/said
-- params: said (table to make), claimed (table), at (place of the column in the list of said ones), column (its published name)
-- returns: id bigint, value: what the column says, each once
CREATE TEMPORARY TABLE {{ said | table }} AS
SELECT r._sqlanon_said{{ at }} AS id, MIN(r.{{ column | ident }}) AS value
FROM {{ claimed | table }} AS r
GROUP BY r._sqlanon_said{{ at }}
