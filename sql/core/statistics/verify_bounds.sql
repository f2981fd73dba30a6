-- name: statistics/verify_bounds
-- params: compared (as statistics/compared makes it), kept (the private table of cell, low, high, tight, and the same of each sum), sums (list of {place})
-- returns: failing bigint: hidden cells with other bounds than those that the run has found
SELECT COUNT(*) AS failing
FROM {{ compared | table }} AS c
LEFT JOIN {{ kept | table }} AS b ON b.cell = c.cell
WHERE c.hidden = 1 AND (
    b.cell IS NULL OR c.lower IS NULL OR c.tight IS NULL OR c.lower <> b.low OR COALESCE(c.upper, -1) <> b.high OR c.tight <> b.tight
{% for s in sums %}
{% set i = s.place %}
    OR c.sure{{ i }} IS NULL OR c.sure{{ i }} <> b.tight{{ i }}
    OR COALESCE(c.least{{ i }}, -4611686018427387904) <> b.low{{ i }} OR COALESCE(c.most{{ i }}, 4611686018427387904) <> b.high{{ i }}
{% endfor %}
)
