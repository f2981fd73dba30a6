-- name: frozen/undo
-- params: rows (the lineage's), version
-- returns: nothing; rows that left in a version that readers never had are published again
UPDATE {{ rows | table }} SET _sqlanon_gone = NULL
WHERE _sqlanon_gone = {{ version }}
