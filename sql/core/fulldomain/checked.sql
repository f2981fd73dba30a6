-- name: fulldomain/checked
-- params: classes (table), least (rows of a class, at least), joined (classes that join those that fail),
--   counts_classes (the metric is the number of classes, negative, in place of the squares of their rows)
-- returns: few bigint (rows in classes of fewer rows), of_classes bigint (the metric of all classes), rows
--   bigint, extra bigint, gone bigint (rows, extra costs and metric of the classes that are suppressed)
SELECT
    CAST(COALESCE(SUM(CASE WHEN c.n < {{ least }} THEN c.n ELSE 0 END), 0) AS BIGINT) AS few
    , CAST(COALESCE(SUM({% if counts_classes %}-1{% else %}c.n * c.n{% endif %}), 0) AS BIGINT) AS of_classes
    , CAST(COALESCE(SUM(CASE WHEN c.place <= {{ joined }} THEN c.n ELSE 0 END), 0) AS BIGINT) AS rows
    , CAST(COALESCE(SUM(CASE WHEN c.place <= {{ joined }} THEN c.n * c.extra ELSE 0 END), 0) AS BIGINT) AS extra
    , CAST(COALESCE(SUM(
        CASE WHEN c.place <= {{ joined }} THEN {% if counts_classes %}-1{% else %}c.n * c.n{% endif %} ELSE 0 END
    ), 0) AS BIGINT) AS gone
FROM {{ classes | table }} AS c
