-- name: catalog/list_scratch
-- params: scratch (table)
-- returns: the scratch tables that are kept, in the order in which they were dropped
SELECT
    s.release AS release
    , s.place AS place
    , s.stage AS stage
    , s.statement AS statement
    , s.name AS name
    , s.n AS n
    , s.seconds AS seconds
FROM {{ scratch | table }} AS s
ORDER BY s.release, s.place
