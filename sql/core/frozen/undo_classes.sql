-- name: frozen/undo_classes
-- params: classes (the lineage's), version
-- returns: nothing; the classes of a version that readers never had are gone
DELETE FROM {{ classes | table }}
WHERE _sqlanon_since = {{ version }}
