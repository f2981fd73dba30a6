-- name: table/class_places
-- params: groups ({table, key, group}), names (columns of the table that are published, in order)
-- returns: class bigint, place bigint: the group of each class; rank bigint: the groups in the order of what is
--   published, the same on every engine, while places are any numbers
SELECT
    CAST(g.{{ groups.key }} AS BIGINT) AS class
    , CAST(g.{{ groups.group }} AS BIGINT) AS place
    , CAST(DENSE_RANK() OVER (
        ORDER BY{% for name in names %}{{ "," if not loop.first }} g.{{ name | ident }} NULLS FIRST{% endfor %}

    ) AS BIGINT) AS rank
FROM {{ groups.table | table }} AS g
ORDER BY class
