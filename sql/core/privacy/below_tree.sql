-- name: privacy/below_tree
-- params: made (table to make), rows (table), groups (columns), value (column), count (column with the number
--   of rows that each represents, or none), sets (table of value, node, own: the nodes above each value, and
--   the table's rows there), total (rows of the table), everything (sum of own over the nodes), whole, p, q
-- returns: the columns of groups: every group whose sum over the nodes of |n total - rows
--   own| is above rows times (whole + p / q)
CREATE {{ made | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}f.g{{ loop.index }} AS {{ name | ident }}{% endfor %}

FROM (
    SELECT {% for name in groups %}x.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}x.size AS size
        , SUM(ABS(x.n * CAST({{ total }} AS BIGINT) - x.size * x.own))
            + x.size * (CAST({{ everything }} AS BIGINT) - SUM(x.own))
            - x.size * CAST({{ whole }} AS BIGINT) AS moved
    FROM (
        SELECT
{% for name in groups %}
            v.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
            v.size AS size
            , s.node AS node
            , s.own AS own
            , SUM(v.n) AS n
        FROM (
            SELECT
{% for name in groups %}
                c.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
                c.value AS value
                , c.n AS n
                , SUM(c.n) OVER (
                    PARTITION BY {% for name in groups %}{{ ", " if not loop.first }}c.g{{ loop.index }}{% endfor %}
                ) AS size
            FROM (
                SELECT
{% for name in groups %}
                    t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
                    t.{{ value | ident }} AS value
                    , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
                FROM {{ rows | table }} AS t
                GROUP BY {% for name in groups %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
            ) AS c
        ) AS v
        JOIN {{ sets | table }} AS s ON s.value = v.value
        GROUP BY {% for name in groups %}v.g{{ loop.index }}, {% endfor %}v.size, s.node, s.own
    ) AS x
    GROUP BY {% for name in groups %}x.g{{ loop.index }}, {% endfor %}x.size
) AS f
WHERE f.moved * CAST({{ q }} AS BIGINT) > f.size * CAST({{ p }} AS BIGINT)
