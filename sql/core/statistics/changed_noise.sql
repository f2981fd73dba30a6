-- name: statistics/changed_noise
-- params: changed (table to make), noise, ends (table of result, low, high), fitted (table of cell, value, or none)
-- returns: cell bigint, value (with noise, or the fitted one), low bigint, high bigint
CREATE {{ changed | scratch }} AS
SELECT n.cell AS cell, {{ "f.value" if fitted else "n.value + n.change" }} AS value, e.low AS low, e.high AS high
FROM {{ noise | table }} AS n
JOIN {{ ends | table }} AS e ON e.result = n.value + n.change
{% if fitted %}
JOIN {{ fitted | table }} AS f ON f.cell = n.cell
{% endif %}
