-- name: privacy/below_frequency
-- params: made (table to make), rows (table), groups (columns), within (columns whose every combination is looked at by itself),
--   value (column), count (column with the number of rows that each represents, or none), p, q
-- returns: the columns of groups: every group in which, for some combination of within, the most frequent value times p exceeds the rows times q
CREATE {{ made | scratch }} AS
SELECT DISTINCT {% for name in groups %}{{ ", " if not loop.first }}f.g{{ loop.index }} AS {{ name | ident }}{% endfor %}

FROM (
    SELECT {% for name in groups + within %}{{ ", " if not loop.first }}v.g{{ loop.index }} AS g{{ loop.index }}{% endfor %}

    FROM (
        SELECT {% for name in groups + within %}t.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}{{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
        FROM {{ rows | table }} AS t
        GROUP BY {% for name in groups + within %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
    ) AS v
    GROUP BY {% for name in groups + within %}{{ ", " if not loop.first }}v.g{{ loop.index }}{% endfor %}

    HAVING MAX(v.n) * CAST({{ p }} AS BIGINT) > SUM(v.n) * CAST({{ q }} AS BIGINT)
) AS f
