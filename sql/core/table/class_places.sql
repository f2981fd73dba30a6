-- name: table/class_places
-- params: groups ({table, key, group})
-- returns: class bigint, place bigint: the group of each class, numbered in the order of what is published
SELECT CAST(g.{{ groups.key }} AS BIGINT) AS class, CAST(g.{{ groups.group }} AS BIGINT) AS place
FROM {{ groups.table | table }} AS g
ORDER BY class
