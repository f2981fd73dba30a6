-- name: attacks/insert
-- params: attacks (table)
-- returns: nothing
INSERT INTO {{ attacks | table }} (number, release, version, made_at, figures)
SELECT :number, :release, :version, :made_at, :figures
