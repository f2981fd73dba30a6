-- name: frozen/undo_classes
-- params: classes (the lineage's), version
DELETE FROM {{ classes | table }}
WHERE _sqlanon_since = {{ version }}
