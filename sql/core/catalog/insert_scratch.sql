-- name: catalog/insert_scratch
-- params: scratch (table)
-- returns: nothing
INSERT INTO {{ scratch | table }} (release, place, stage, statement, name, n, seconds)
VALUES (:release, CAST(:place AS INTEGER), :stage, :statement, :name, CAST(:n AS BIGINT), CAST(:seconds AS DOUBLE))
