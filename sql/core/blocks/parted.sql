-- name: blocks/parted
-- params: work (table), parts (table of rid and part), columns (of work)
-- returns: block integer, rid, the columns: the rows of open partitions, each of which is a block
SELECT CAST(p.part AS INTEGER) AS block, w.rid AS rid
{% for column in columns %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
FROM {{ work | table }} AS w
JOIN {{ parts | table }} AS p ON p.rid = w.rid
