-- name: noisy/single
-- params: single (table to make), coded (table, as noisy/coded makes it), codes (aliases of codes)
-- returns: person, and the codes: the row of each person who has exactly one row with all of the codes
CREATE {{ single | scratch }} AS
SELECT k.person AS person{% for code in codes %}, MIN(k.{{ code }}) AS {{ code }}{% endfor %}

FROM {{ coded | table }} AS k
WHERE k.person IS NOT NULL{% for code in codes %} AND k.{{ code }} IS NOT NULL{% endfor %}

GROUP BY k.person
HAVING COUNT(*) = 1
