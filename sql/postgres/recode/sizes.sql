-- name: recode/sizes
SELECT COUNT(*) AS classes, COALESCE(MIN(b.n), 0) AS smallest, COALESCE(MAX(b.n), 0) AS largest, (
    SELECT
        CASE
            WHEN COUNT(*) = COUNT(DISTINCT r._sqlanon_class)
                AND MIN(r._sqlanon_class) = 0
                AND MAX(r._sqlanon_class) = COUNT(*) - 1 THEN 1
            ELSE 0
        END
    FROM {{ released | table }} AS r
) AS dense, CASE
    WHEN COUNT(*) = (SELECT COUNT(DISTINCT r.{{ groups.group }}) FROM {{ released | table }} AS r) THEN 1
    ELSE 0
END AS alone
FROM {{ boxes | table }} AS b
