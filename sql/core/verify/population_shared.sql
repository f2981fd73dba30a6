-- name: verify/population_shared
-- params: matched (table), starred (the group of starred rows, which is no cell, or none)
-- returns: n bigint: combinations of values of the population that lie in more than one published cell
SELECT COUNT(*) AS n
FROM (
    SELECT m.cell AS cell
    FROM {{ matched | table }} AS m
{% if starred is not none %}
    WHERE m.grp <> {{ starred }}
{% endif %}
    GROUP BY m.cell
    HAVING COUNT(*) > 1
) AS g
