-- name: persons/sampled
-- params: sampled (table to make), stage (table), person (column of the stage), columns
--   (names, without rid), step (a whole number)
-- returns: all rows of every step-th person of the stage; rid integer, from 0 without a gap, as in the stage
CREATE {{ sampled | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY s.rid) - 1 AS INTEGER) AS rid
{% for c in columns %}
    , s.{{ c | ident }} AS {{ c | ident }}
{% endfor %}
FROM {{ stage | table }} AS s
JOIN (
    SELECT p.person AS person
    FROM (
        SELECT o.{{ person | ident }} AS person, ROW_NUMBER() OVER (ORDER BY MIN(o.rid)) AS place
        FROM {{ stage | table }} AS o
        GROUP BY o.{{ person | ident }}
    ) AS p
    WHERE p.place % {{ step }} = 0
) AS t ON t.person = s.{{ person | ident }}
