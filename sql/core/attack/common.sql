-- name: attack/common
-- params: first, second (tables of rid, place: the class in one release, -1 left out)
-- returns: n bigint, groups bigint: how many groups of so many rows the source's rows in
--   both releases make, by their classes in both. Rows that one release leaves out are a
--   class of their own, rows that both leave out are in neither.
SELECT g.n AS n, COUNT(*) AS groups
FROM (
    SELECT COUNT(*) AS n
    FROM {{ first | table }} AS a
    JOIN {{ second | table }} AS b ON b.rid = a.rid
    WHERE a.place >= 0 OR b.place >= 0
    GROUP BY a.place, b.place
) AS g
GROUP BY g.n
ORDER BY g.n
