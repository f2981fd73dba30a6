-- name: frozen/leave
-- params: rows (the lineage's), leaving (table of classes), version
-- returns: nothing; whole classes have left
UPDATE {{ rows | table }} SET _sqlanon_gone = {{ version }}
WHERE _sqlanon_gone IS NULL AND _sqlanon_class IN (SELECT x.class FROM {{ leaving | table }} AS x)
