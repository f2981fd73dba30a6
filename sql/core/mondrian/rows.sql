-- name: mondrian/rows
-- params: rows (table to make), work (table), items (table of part and keys), keys
--   (columns that identify an item), part_name (what to call the partition)
-- returns: rid integer, the partition of every row that the items hold
CREATE {{ rows | scratch }} AS
SELECT w.rid AS rid, CAST(g.part AS INTEGER) AS {{ part_name }}
FROM {{ work | table }} AS w
JOIN (
    SELECT i.part AS part{% for key in keys %}, i.{{ key }} AS {{ key }}{% endfor %}

    FROM {{ items | table }} AS i
    GROUP BY i.part{% for key in keys %}, i.{{ key }}{% endfor %}

) AS g ON {% for key in keys %}{{ " AND " if not loop.first }}g.{{ key }} = w.{{ key }}{% endfor %}
