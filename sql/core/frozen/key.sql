-- name: frozen/key
-- params: compared, rows (the lineage's), stage (tables)
-- returns: nulls bigint (rows of the source whose key is NULL), repeats bigint (rows of the source more than keys)
-- Of the keys that the lineage has: pairs of a row of each more than rows of the lineage
-- that are in one. Of the others: rows more than keys.
SELECT
    n.others - n.keyed AS nulls
    , p.pairs - ((SELECT COUNT(*) FROM {{ rows | table }} AS l) - p.away) + n.keyed - n.keys AS repeats
FROM (
    SELECT COUNT(CASE WHEN c.known THEN c.rid END) AS pairs, COUNT(*) - COUNT(c.rid) AS away
    FROM {{ compared | table }} AS c
) AS p
CROSS JOIN (
    SELECT COUNT(*) AS others, COUNT(s.person) AS keyed, COUNT(DISTINCT s.person) AS keys
    FROM {{ compared | table }} AS c
    JOIN {{ stage | table }} AS s ON s.rid = c.rid
    WHERE NOT c.known
) AS n
