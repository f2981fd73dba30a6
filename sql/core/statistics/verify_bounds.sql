-- name: statistics/verify_bounds
-- params: compared (as statistics/compared makes it), kept (the private table of cell, low, high, tight,
--   and the same of each sum), measures (list of {place, bottom, top, sure}), sums (list of {place})
-- returns: failing bigint: hidden cells with other bounds than those that the run has found
SELECT COUNT(*) AS failing
FROM {{ compared | table }} AS c
LEFT JOIN {{ kept | table }} AS b ON b.cell = c.cell
WHERE c.hidden = 1 AND (
    b.cell IS NULL
{% for m in measures %}
{% set i = m.place %}
    OR c.lower{{ i }} IS NULL
        OR c.tight{{ i }} IS NULL
        OR c.lower{{ i }} <> b.{{ m.bottom }}
        OR COALESCE(c.upper{{ i }}, -1) <> b.{{ m.top }}
        OR c.tight{{ i }} <> b.{{ m.sure }}
{% endfor %}
{% for s in sums %}
{% set i = s.place %}
    OR c.sure{{ i }} IS NULL OR c.sure{{ i }} <> b.tight{{ i }}
    OR COALESCE(c.least{{ i }}, -4611686018427387904) <> b.low{{ i }}
        OR COALESCE(c.most{{ i }}, 4611686018427387904) <> b.high{{ i }}
{% endfor %}
)
