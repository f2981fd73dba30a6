-- name: statistics/verify_ranks
-- params: keyed (table, as statistics/verify_rows makes it), stage (table), atoms (table
--   of parts), column ({place, how, alias, leaves})
-- returns: failing bigint: values with several ranks, ranks with several values, NULL with
--   another rank than 0, and values in another order than ranks
SELECT COUNT(*) AS failing
FROM (
    SELECT
        d.value AS value
        , d.rank AS rank
        , COUNT(*) OVER (PARTITION BY d.rank) AS values_of_rank
        , COUNT(*) OVER (PARTITION BY d.value) AS ranks_of_value
        , LAG(d.rank) OVER (ORDER BY d.value, d.rank) AS before
    FROM (
        SELECT DISTINCT
{% if column.leaves %}
            x.rank
{% elif column.how == "members" %}
            CASE WHEN k.v{{ column.place }}_0 <> 'n' THEN k.v{{ column.place }}_0 END
{% else %}
            s.{{ column.alias }}
{% endif %}
            AS value
            , a.r{{ column.place }} AS rank
        FROM {{ keyed | table }} AS k
        JOIN {{ stage | table }} AS s ON s.rid = k.rid
{% if column.leaves %}
        LEFT JOIN {{ column.leaves | table }} AS x ON x.leaf = k.v{{ column.place }}_0
{% endif %}
        JOIN (
            SELECT DISTINCT b.v{{ column.place }}_0 AS leaf, b.r{{ column.place }} AS r{{ column.place }}
            FROM {{ atoms | table }} AS b
        ) AS a ON a.leaf = k.v{{ column.place }}_0
    ) AS d
) AS e
WHERE e.values_of_rank > 1
    OR e.ranks_of_value > 1
    OR (e.value IS NULL AND e.rank <> 0)
    OR (e.value IS NOT NULL AND (e.rank < 1 OR (e.before > 0 AND e.before >= e.rank)))
