-- name: table/collated
-- params: source (table), columns (list of names of text columns)
-- returns: one row, a boolean a column in their order: texts of other bytes may be equal
--   there, or their order is not that of bytes. No row of the source is read
SELECT
{% for column in columns %}
    COALESCE(s.{{ column | ident }}, 'a') < 'B'
    OR COALESCE(s.{{ column | ident }}, 'a') = 'A'
    OR COALESCE(s.{{ column | ident }}, CHR(233)) = 'e'
    OR COALESCE(s.{{ column | ident }}, CHR(233)) = 'e' || CHR(769) AS b{{ loop.index }}{{ "," if not loop.last }}
{% endfor %}
FROM (SELECT 1 AS one) AS o
LEFT JOIN (SELECT * FROM {{ source | table }} WHERE FALSE) AS s ON TRUE
