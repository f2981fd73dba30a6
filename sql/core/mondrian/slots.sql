-- name: mondrian/slots
-- params: slots (table of part, slot, n, box and sets, of parts of the rows), box (list of [lo, hi]: columns), sets (columns)
-- returns: part, slot integer, n bigint, lo, hi integer of each column, sets bigint: of all rows, by part and slot
SELECT
    s.part AS part
    , s.slot AS slot
    , CAST(SUM(s.n) AS BIGINT) AS n
{% for low, high in box %}
    , MIN(s.{{ low }}) AS {{ low }}
    , MAX(s.{{ high }}) AS {{ high }}
{% endfor %}
{% for set in sets %}
    , BIT_OR(s.{{ set }}) AS {{ set }}
{% endfor %}
FROM {{ slots | table }} AS s
GROUP BY s.part, s.slot
ORDER BY s.part, s.slot
