-- name: privacy/below_chain
-- params: made (table to make), rows (table), groups (columns, never NULL), value (column), count
--   (column with the number of rows that each represents, or none), sets (table of value, node: its
--   place in the order, own: the table's rows up to it), total (rows of the table), whole, p, q
-- returns: the columns of groups: every group whose sum over the places of |rows up to it
--   total - rows own| is above rows times (whole + p / q)
CREATE {{ made | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}f.g{{ loop.index }} AS {{ name | ident }}{% endfor %}

FROM (
    SELECT {% for name in groups %}x.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}x.size AS size
        , SUM(ABS(x.held * CAST({{ total }} AS BIGINT) - x.size * x.own))
            - x.size * CAST({{ whole }} AS BIGINT) AS moved
    FROM (
        SELECT
{% for name in groups %}
            d.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
            d.size AS size
            , s.own AS own
            , SUM(COALESCE(v.n, 0)) OVER (
                PARTITION BY {% for name in groups %}{{ ", " if not loop.first }}d.g{{ loop.index }}{% endfor %}
                ORDER BY s.node
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS held
        FROM (
            SELECT
{% for name in groups %}
                t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
                {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS size
            FROM {{ rows | table }} AS t
            GROUP BY {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

        ) AS d
        CROSS JOIN {{ sets | table }} AS s
        LEFT JOIN (
            SELECT
{% for name in groups %}
                t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
                t.{{ value | ident }} AS value
                , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
            FROM {{ rows | table }} AS t
            GROUP BY {% for name in groups %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
        ) AS v ON v.value = s.value{% for name in groups %} AND v.g{{ loop.index }} = d.g{{ loop.index }}{% endfor %}

    ) AS x
    GROUP BY {% for name in groups %}x.g{{ loop.index }}, {% endfor %}x.size
) AS f
WHERE f.moved * CAST({{ q }} AS BIGINT) > f.size * CAST({{ p }} AS BIGINT)
