-- name: privacy/below_recursive
-- params: made (table to make), rows (table), groups (columns), within (columns whose
--   every combination is looked at by itself), value (column), count (column with the
--   number of rows that each represents, or none), least (l), p, q (of c)
-- returns: the columns of groups: every group in which, for some combination of within, the rows of the most
--   frequent value times q are no fewer than p times those of all values from the l-th most frequent one on
CREATE {{ made | scratch }} AS
SELECT DISTINCT
{% for name in groups %}
    {{ ", " if not loop.first }}f.g{{ loop.index }} AS {{ name | ident }}
{% endfor %}
FROM (
    SELECT
{% for name in groups + within %}
        {{ ", " if not loop.first }}v.g{{ loop.index }} AS g{{ loop.index }}
{% endfor %}
    FROM (
        SELECT {% for name in groups + within %}c.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}c.n AS n
            , ROW_NUMBER() OVER (
                PARTITION BY
{% for name in groups + within %}
                    {{ ", " if not loop.first }}c.g{{ loop.index }}
{% endfor %}
                ORDER BY c.n DESC, c.value
            ) AS place
        FROM (
            SELECT
{% for name in groups + within %}
                t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
                t.{{ value | ident }} AS value
                , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
            FROM {{ rows | table }} AS t
            GROUP BY {% for name in groups + within %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
        ) AS c
    ) AS v
    GROUP BY {% for name in groups + within %}{{ ", " if not loop.first }}v.g{{ loop.index }}{% endfor %}

    HAVING MAX(v.n) * CAST({{ q }} AS BIGINT)
        >= SUM(CASE WHEN v.place >= {{ least }} THEN v.n ELSE 0 END) * CAST({{ p }} AS BIGINT)
) AS f
