-- name: audit/together_fits
-- params: fits (table to make), records (table), place (column: the class or box), slot
--   (column), edges (the certificate's table; none: the class is all that a row fits)
-- returns: row bigint, box bigint: each row once for each box that it fits
CREATE {{ fits | scratch }} AS
{% if edges %}
SELECT r.row AS row, CAST(e.box AS BIGINT) AS box
FROM {{ records | table }} AS r
JOIN {{ edges | table }} AS e ON e.slot = r.{{ slot }}
{% else %}
SELECT r.row AS row, r.{{ place }} AS box
FROM {{ records | table }} AS r
{% endif %}
