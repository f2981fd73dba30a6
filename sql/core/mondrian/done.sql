-- name: mondrian/done
-- params: done (table to make), items (table), keys (columns that identify an item)
-- returns: an empty table of part and the keys
CREATE {{ done | scratch }} AS
SELECT i.part AS part{% for key in keys %}, i.{{ key }} AS {{ key }}{% endfor %}

FROM {{ items | table }} AS i
WHERE i.part < 0
