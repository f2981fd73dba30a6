-- name: noisy/groups
CREATE {{ groups | scratch }} AS
SELECT l.code AS code, CAST(l.value AS text) COLLATE "C" AS value
FROM {{ listed | table }} AS l
