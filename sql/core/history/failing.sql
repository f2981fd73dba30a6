-- name: history/failing
-- params: failing (table to make), sets (table), below (tables of groups that do not meet
--   a requirement), groups (their columns)
-- returns: person text: every row of a set that does not meet all that is asked
CREATE {{ failing | scratch }} AS
SELECT s.person AS person
FROM {{ sets | table }} AS s
JOIN (
{% for table in below %}
    {{ "UNION" if not loop.first }}
    SELECT {% for name in groups %}{{ ", " if not loop.first }}t.{{ name | ident }} AS {{ name | ident }}{% endfor %}
    FROM {{ table | table }} AS t
{% endfor %}
) AS b ON {% for name in groups %}{{ " AND " if not loop.first }}b.{{ name | ident }} = s.{{ name | ident }}{% endfor %}

