-- name: noisy/measured
-- params: measured (table of night, series, node and value, all bigint)
-- returns: the same, in that order: the noisy measurements of all nights
SELECT m.night AS night, m.series AS series, m.node AS node, m.value AS value
FROM {{ measured | table }} AS m
ORDER BY m.night, m.series, m.node
