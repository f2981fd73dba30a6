-- name: privacy/below_shares
-- params: made (table to make), rows (table), groups (columns), within (columns whose every combination
--   is looked at by itself), value (column), count (column with the number of rows that each represents,
--   or none), bounds (table of value, p, q, least_p, least_q), needed (values that a group must not lack)
-- returns: the columns of groups: every group in which some combination of within has a value
--   of more rows than p / q or of fewer than least_p / least_q of its own, or lacks a value
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
        SELECT
{% for name in groups + within %}
            c.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
            c.value AS value
            , c.n AS n
            , SUM(c.n) OVER (
                PARTITION BY
{% for name in groups + within %}
                    {{ ", " if not loop.first }}c.g{{ loop.index }}
{% endfor %}
            ) AS total
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
    JOIN {{ bounds | table }} AS b ON b.value = v.value
    GROUP BY {% for name in groups + within %}{{ ", " if not loop.first }}v.g{{ loop.index }}{% endfor %}

    HAVING SUM(CASE WHEN v.n * b.q > v.total * b.p OR v.n * b.least_q < v.total * b.least_p THEN 1 ELSE 0 END) > 0
{% if needed %}
        OR SUM(CASE WHEN b.least_p > 0 THEN 1 ELSE 0 END) < {{ needed }}
{% endif %}
) AS f
