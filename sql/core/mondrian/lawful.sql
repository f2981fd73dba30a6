-- name: mondrian/lawful
-- params: lawful (table to make), candidates (table), below (tables of part, cut, side:
--   halves that do not meet a requirement)
-- returns: the columns of candidates: those cuts of which no half is below
CREATE {{ lawful | scratch }} AS
SELECT c.part AS part, c.dim AS dim, c.cut AS cut, c.n_left AS n_left, c.key1 AS key1, c.key2 AS key2, c.key3 AS key3
FROM {{ candidates | table }} AS c
{% for table in below %}
LEFT JOIN (SELECT DISTINCT b.part AS part, b.cut AS cut FROM {{ table | table }} AS b) AS b{{ loop.index }}
    ON b{{ loop.index }}.part = c.part AND b{{ loop.index }}.cut = c.cut
{% endfor %}
WHERE {% for table in below %}{{ " AND " if not loop.first }}b{{ loop.index }}.part IS NULL{% endfor %}

