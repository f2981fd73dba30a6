-- name: privacy/person_parts
-- params: parts (table to make), rows (table), groups (columns), person, value (columns),
--   count (column with the number of rows that each represents, or none)
-- returns: g1.. (the groups), value, many bigint (rows of a person in the group), n bigint
--   (rows with the value, of all persons who have so many)
CREATE {{ parts | scratch }} AS
SELECT
{% for name in groups %}
    m.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
    m.value AS value
    , CAST(m.many AS BIGINT) AS many
    , CAST(SUM(m.n) AS BIGINT) AS n
FROM (
    SELECT {% for name in groups %}c.g{{ loop.index }} AS g{{ loop.index }}, {% endfor %}c.value AS value, c.n AS n
        , SUM(c.n) OVER (PARTITION BY {% for name in groups %}c.g{{ loop.index }}, {% endfor %}c.person) AS many
    FROM (
        SELECT
{% for name in groups %}
            t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
            t.{{ person | ident }} AS person
            , t.{{ value | ident }} AS value
            , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
        FROM {{ rows | table }} AS t
        GROUP BY {% for name in groups %}t.{{ name | ident }}, {% endfor %}t.{{ person | ident }}, t.{{ value | ident }}
    ) AS c
) AS m
GROUP BY {% for name in groups %}m.g{{ loop.index }}, {% endfor %}m.value, m.many
