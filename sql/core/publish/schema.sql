-- name: publish/schema
-- params: schema (qualified name, quoted)
-- returns: nothing
CREATE SCHEMA IF NOT EXISTS {{ schema }}
