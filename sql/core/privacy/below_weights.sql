-- name: privacy/below_weights
-- params: made (table to make), rows (table), groups (columns), person, value (columns), count (column with the number of rows that each
--   represents, or none), unit (the weight of a person), p, q
-- returns: the columns of groups: every group in which a value weighs so much that its weight times p exceeds the persons times unit times q. A
--   person's part of a value is its rows with the value by its rows in the group, rounded up. Its division is of whole numbers below 2 to the power
--   of 51 by others below 2 to the power of 31, so that doubles round it up rightly
CREATE {{ made | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}w.g{{ loop.index }} AS {{ name | ident }}{% endfor %}

FROM (
    SELECT {% for name in groups %}v.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}v.value AS value, SUM(v.part) AS weight
    FROM (
        SELECT {% for name in groups %}c.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}c.value AS value
            , -CAST(FLOOR(-CAST(c.n * {{ unit }} AS DOUBLE) / CAST(SUM(c.n) OVER (PARTITION BY {% for name in groups %}c.g{{ loop.index }}, {% endfor %}c.person) AS DOUBLE)) AS BIGINT) AS part
        FROM (
            SELECT {% for name in groups %}t.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}t.{{ person | ident }} AS person, t.{{ value | ident }} AS value
                , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
            FROM {{ rows | table }} AS t
            GROUP BY {% for name in groups %}t.{{ name | ident }}, {% endfor %}t.{{ person | ident }}, t.{{ value | ident }}
        ) AS c
    ) AS v
    GROUP BY {% for name in groups %}v.g{{ loop.index }}, {% endfor %}v.value
) AS w
JOIN (
    SELECT {% for name in groups %}t.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}COUNT(DISTINCT t.{{ person | ident }}) AS persons
    FROM {{ rows | table }} AS t
    GROUP BY {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

) AS m ON {% for name in groups %}{{ " AND " if not loop.first }}m.g{{ loop.index }} = w.g{{ loop.index }}{% endfor %}

GROUP BY {% for name in groups %}{{ ", " if not loop.first }}w.g{{ loop.index }}{% endfor %}

HAVING MAX(w.weight) * CAST({{ p }} AS BIGINT) > MAX(m.persons) * CAST({{ unit }} AS BIGINT) * {{ q }}
