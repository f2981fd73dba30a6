-- name: noisy/groups
-- params: groups (table to make), listed (table of code integer and value text)
-- returns: code integer, value text: the listed values, in a collation of bytes
CREATE {{ groups | scratch }} AS
SELECT l.code AS code, l.value AS value
FROM {{ listed | table }} AS l
