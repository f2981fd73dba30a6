-- name: table/sampled
-- params: sampled (table to make), stage (table), columns (names, rid among them), step (a whole number)
-- returns: every step-th row of the stage, by row id
CREATE {{ sampled | scratch }} AS
SELECT {% for c in columns %}{{ ", " if not loop.first }}s.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ stage | table }} AS s
WHERE s.rid % {{ step }} = 0
