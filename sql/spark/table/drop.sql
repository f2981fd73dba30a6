-- name: table/drop
-- What `Scratch.once` named is a view of the session.
DROP {{ "TABLE" if target.schema else "VIEW" }} IF EXISTS {{ target | table }}
