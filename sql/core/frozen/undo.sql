-- name: frozen/undo
-- params: rows (the lineage's), version, column (_sqlanon_gone or _sqlanon_refused)
-- A version that readers never had: what it set is as before.
UPDATE {{ rows | table }} SET {{ column }} = NULL
WHERE {{ column }} = {{ version }}
