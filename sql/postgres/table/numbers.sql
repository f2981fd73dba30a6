-- name: table/numbers
-- params: numbers (sequence to make)
-- returns: a sequence of the session that begins at 0
CREATE TEMPORARY SEQUENCE {{ numbers | table }} MINVALUE 0 CACHE 10000
