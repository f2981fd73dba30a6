-- name: history/fits
-- params: fits (table to make), records (table), place (column: the class or box), boxes
--   (column of all boxes that a row fits; none: the class is all)
-- returns: row bigint, box bigint: each row once for each box that it fits
CREATE {{ fits | scratch }} AS
SELECT r.row AS row, CAST({% if boxes %}UNNEST(r.{{ boxes }}){% else %}r.{{ place }}{% endif %} AS BIGINT) AS box
FROM {{ records | table }} AS r
