-- name: privacy/below_whole
-- params: made (table to make), rows (table), groups (columns), person (column)
-- returns: the columns of groups: every group that has a row of a person who has rows in another group, too
CREATE {{ made | scratch }} AS
SELECT DISTINCT
{% for name in groups %}
    {{ ", " if not loop.first }}c.g{{ loop.index }} AS {{ name | ident }}
{% endfor %}
FROM (
    SELECT
{% for name in groups %}
        d.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
        COUNT(*) OVER (PARTITION BY d.person) AS n
    FROM (
        SELECT DISTINCT
{% for name in groups %}
            t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
            t.{{ person | ident }} AS person
        FROM {{ rows | table }} AS t
    ) AS d
) AS c
WHERE c.n > 1
