-- name: noisy/verify_single
-- params: single (table, as noisy/single makes it), coded (table, as noisy/coded makes it), codes (aliases of codes)
-- returns: how many rows are further ones of a person, and how many are no coded rows
SELECT
    (SELECT COUNT(*) - COUNT(DISTINCT s.person) FROM {{ single | table }} AS s)
    + (SELECT COUNT(*) FROM (
        SELECT s.person{% for code in codes %}, s.{{ code }}{% endfor %} FROM {{ single | table }} AS s
        EXCEPT
        SELECT k.person{% for code in codes %}, k.{{ code }}{% endfor %} FROM {{ coded | table }} AS k
    ) AS added) AS differences
