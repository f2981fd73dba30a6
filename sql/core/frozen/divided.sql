-- name: frozen/divided
-- params: made (table to make), dealt (rows with class and part), below (tables of groups that do
--   not meet a requirement), before (table of rows of classes that are divided already, or none)
-- returns: person, class, part: the rows of classes all of whose groups meet every requirement, with those of before
CREATE {{ made | scratch }} AS
SELECT d.person AS person, d.class AS class, d.part AS part
FROM {{ dealt | table }} AS d
WHERE 1 = 1
{% for table in below %}
    AND NOT EXISTS (SELECT 1 FROM {{ table | table }} AS b WHERE b.class = d.class)
{% endfor %}
{% if before %}
UNION ALL
SELECT x.person AS person, x.class AS class, x.part AS part
FROM {{ before | table }} AS x
{% endif %}
