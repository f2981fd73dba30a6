-- name: noisy/kept
-- params: coded (table, as noisy/coded makes it), tables (list of {bounded (table), columns
--   (aliases of codes)}), steps, parts (rows of the bounded tables are in whole parts of this)
-- returns: kept (sum over persons of the share of their rows that are counted, in whole
--   parts of steps each), persons: of those who have any
SELECT
    CAST(
        COALESCE(SUM(FLOOR(CAST(f.kept * {{ steps }} AS DECIMAL(38, 0)) / (f.had * {{ parts }}))), 0) AS BIGINT
    ) AS kept
    , COUNT(*) AS persons
FROM (
    SELECT p.person AS person, SUM(p.had) AS had, SUM(p.kept) AS kept
    FROM (
{% for t in tables %}
        {{ "UNION ALL " if not loop.first }}SELECT k.person AS person, COUNT(*) AS had, 0 AS kept
        FROM {{ coded | table }} AS k
        WHERE k.person IS NOT NULL{% for c in t.columns %} AND k.{{ c }} IS NOT NULL{% endfor %}
        GROUP BY k.person
        UNION ALL
        SELECT b.person AS person, 0 AS had, SUM(b.n) AS kept
        FROM {{ t.bounded | table }} AS b
        GROUP BY b.person
{% endfor %}
    ) AS p
    GROUP BY p.person
) AS f
