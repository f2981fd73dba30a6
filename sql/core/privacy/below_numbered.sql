-- name: privacy/below_numbered
-- params: made (table to make), parts (table as privacy/person_parts makes it), failing (table
--   of place, as privacy/numbered_parts numbers the groups), groups (columns to name, of g1..)
-- returns: the columns of groups: every group whose number is among those that fail
CREATE {{ made | scratch }} AS
SELECT DISTINCT
{% for name in groups %}
    {{ ", " if not loop.first }}p.g{{ loop.index }} AS {{ name | ident }}
{% endfor %}
FROM (
    SELECT
{% for name in groups %}
        n.g{{ loop.index }} AS g{{ loop.index }},
{% endfor %}
        DENSE_RANK() OVER (
            ORDER BY {% for name in groups %}{{ ", " if not loop.first }}n.g{{ loop.index }}{% endfor %}
        ) AS place
    FROM {{ parts | table }} AS n
) AS p
JOIN {{ failing | table }} AS f ON f.place = p.place
