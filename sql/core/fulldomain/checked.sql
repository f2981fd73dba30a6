-- name: fulldomain/checked
-- params: classes (table), least (rows of a class, at least), joined (classes that join those that fail)
-- returns: few bigint (rows in classes of fewer rows), squares bigint (of all classes' rows), rows bigint, extra bigint, gone bigint (rows,
--   extra costs and squares of the classes that are suppressed)
SELECT
    CAST(COALESCE(SUM(CASE WHEN c.n < {{ least }} THEN c.n ELSE 0 END), 0) AS BIGINT) AS few
    , CAST(COALESCE(SUM(c.n * c.n), 0) AS BIGINT) AS squares
    , CAST(COALESCE(SUM(CASE WHEN c.place <= {{ joined }} THEN c.n ELSE 0 END), 0) AS BIGINT) AS rows
    , CAST(COALESCE(SUM(CASE WHEN c.place <= {{ joined }} THEN c.n * c.extra ELSE 0 END), 0) AS BIGINT) AS extra
    , CAST(COALESCE(SUM(CASE WHEN c.place <= {{ joined }} THEN c.n * c.n ELSE 0 END), 0) AS BIGINT) AS gone
FROM {{ classes | table }} AS c
