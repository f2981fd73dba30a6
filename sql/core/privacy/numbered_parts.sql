-- name: privacy/numbered_parts
-- params: parts, whole (tables as privacy/person_parts makes them; the latter without
--   groups), groups (columns of the former)
-- returns: place bigint (number of the group, from 1; 0: the whole table), value bigint
--   (number of the value), many bigint, n bigint
SELECT
    CAST(u.place AS BIGINT) AS place
    , CAST(DENSE_RANK() OVER (ORDER BY u.value) AS BIGINT) - 1 AS value
    , u.many AS many
    , u.n AS n
FROM (
    SELECT
        DENSE_RANK() OVER (
            ORDER BY {% for name in groups %}{{ ", " if not loop.first }}p.g{{ loop.index }}{% endfor %}
        ) AS place
        , p.value AS value
        , p.many AS many
        , p.n AS n
    FROM {{ parts | table }} AS p
    UNION ALL
    SELECT 0 AS place, w.value AS value, w.many AS many, w.n AS n
    FROM {{ whole | table }} AS w
) AS u
