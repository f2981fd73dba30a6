-- name: frozen/refuse
-- params: rows (the lineage's), version
-- returns: nothing; the cohort could not be published: its rows wait for a new lineage
UPDATE {{ rows | table }} SET _sqlanon_refused = {{ version }}
WHERE _sqlanon_class IS NULL AND _sqlanon_refused IS NULL
