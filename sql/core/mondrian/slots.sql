-- name: mondrian/slots
-- params: slots (table of part, slot, held, n, box and sets, of parts of the rows), lows, highs, sets (columns)
-- returns: part, slot, held integer, n bigint, lows, highs integer, sets bigint: of all rows, by part, slot and held
SELECT
    s.part AS part
    , s.slot AS slot
    , s.held AS held
    , CAST(SUM(s.n) AS BIGINT) AS n
{% for low in lows %}
    , MIN(s.{{ low }}) AS {{ low }}
{% endfor %}
{% for high in highs %}
    , MAX(s.{{ high }}) AS {{ high }}
{% endfor %}
{% for set in sets %}
    , BIT_OR(s.{{ set }}) AS {{ set }}
{% endfor %}
FROM {{ slots | table }} AS s
GROUP BY s.part, s.slot, s.held
ORDER BY s.part, s.slot, s.held
