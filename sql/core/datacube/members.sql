-- name: datacube/members
-- params: members (table to make), parts, domain (tables), texts (table of member, label,
--   read from labels; none where sets are arrays)
-- returns: part, code, size: the values of a set that the source holds, and how many values the set has
CREATE {{ members | scratch }} AS
SELECT m.part AS part, d.code AS code, m.size AS size
FROM (
    SELECT e.part AS part, e.member AS member, CAST(COUNT(*) OVER (PARTITION BY e.part) AS DOUBLE) AS size
    FROM (
{% if texts %}
        SELECT p.part AS part, k.member AS member
        FROM {{ parts | table }} AS p
        JOIN {{ texts | table }} AS k ON k.label = p.value
{% else %}
        SELECT p.part AS part, UNNEST(p.value) AS member
        FROM {{ parts | table }} AS p
{% endif %}
        WHERE p.state = 'none'
    ) AS e
) AS m
JOIN {{ domain | table }} AS d ON d.value = m.member
