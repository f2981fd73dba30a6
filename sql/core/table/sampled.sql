-- name: table/sampled
-- params: sampled (table to make), stage (table), columns (names, without rid), step (a whole number)
-- returns: every step-th row of the stage, by row id; rid integer, from 0 without a gap, as in the stage
CREATE {{ sampled | scratch }} AS
SELECT
    CAST((s.rid - s.rid % {{ step }}) / {{ step }} AS INTEGER) AS rid
{% for c in columns %}
    , s.{{ c | ident }} AS {{ c | ident }}
{% endfor %}
FROM {{ stage | table }} AS s
WHERE s.rid % {{ step }} = 0
