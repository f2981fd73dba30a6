-- name: statistics/verify_pattern_changes
-- params: witness, patterns, atoms (tables)
-- returns: unknown bigint (changes of no pattern, and patterns of no atom), twice bigint (a pattern
--   that a witness changes twice, or an atom that a pattern has twice), broken bigint (changes that are
--   no whole number or leave fewer than no persons, and patterns without rows or with several numbers)
SELECT
    (
        SELECT COUNT(*)
        FROM {{ witness | table }} AS w
        LEFT JOIN {{ patterns | table }} AS q ON q.pattern = w.pattern
        WHERE q.pattern IS NULL
    )
    + (
        SELECT COUNT(*)
        FROM {{ patterns | table }} AS p
        LEFT JOIN {{ atoms | table }} AS a ON a.atom = p.atom
        WHERE a.atom IS NULL
    ) AS unknown
    , (
        SELECT COUNT(*)
        FROM (
            SELECT v.witness AS witness, v.pattern AS pattern
            FROM {{ witness | table }} AS v
            GROUP BY v.witness, v.pattern
            HAVING COUNT(*) > 1
        ) AS s
    )
    + (
        SELECT COUNT(*)
        FROM (
            SELECT o.pattern AS pattern, o.atom AS atom
            FROM {{ patterns | table }} AS o
            GROUP BY o.pattern, o.atom
            HAVING COUNT(*) > 1
        ) AS t
    ) AS twice
    , (
        SELECT COUNT(*)
        FROM {{ witness | table }} AS x
        LEFT JOIN (SELECT DISTINCT r.pattern AS pattern, r.persons AS persons FROM {{ patterns | table }} AS r) AS y
            ON y.pattern = x.pattern
        WHERE x.change IS NULL OR x.change <> CAST(x.change AS BIGINT) OR y.persons IS NULL OR y.persons + x.change < 0
    ) + (
        SELECT COUNT(*)
        FROM {{ patterns | table }} AS z
        WHERE z.times IS NULL OR z.times < 1 OR z.persons IS NULL OR z.persons < 0
    )
    + (
        SELECT COUNT(*)
        FROM (
            SELECT u.pattern AS pattern
            FROM {{ patterns | table }} AS u
            GROUP BY u.pattern
            HAVING COUNT(DISTINCT u.persons) > 1
        ) AS d
    ) AS broken
