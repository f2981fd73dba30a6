-- name: verify/population_counted
-- params: counted (table to make), groups, people, matched (tables), starred (the group of starred rows,
--   which is no cell, or none), missing (rows of the source in no cell: starred, or not published)
-- returns: grp bigint, n bigint, population bigint: rows and rows of the population of every published cell;
--   and, with the missing rows, those of the population that lie in none, where there are any of either
CREATE {{ counted | scratch }} AS
SELECT g._sqlanon_grp AS grp, CAST(g._sqlanon_n AS BIGINT) AS n, COALESCE(m.n, 0) AS population
FROM {{ groups | table }} AS g
LEFT JOIN (
    SELECT a.grp AS grp, CAST(SUM(a.n) AS BIGINT) AS n
    FROM {{ matched | table }} AS a
    GROUP BY a.grp
) AS m ON m.grp = g._sqlanon_grp
{% if starred is not none %}
WHERE g._sqlanon_grp <> {{ starred }}
{% endif %}
UNION ALL
SELECT CAST(0 AS BIGINT) AS grp, CAST({{ missing }} AS BIGINT) AS n, CAST(COALESCE(SUM(p.n), 0) AS BIGINT) AS population
FROM {{ people | table }} AS p
LEFT JOIN (
    SELECT DISTINCT b.cell AS cell
    FROM {{ matched | table }} AS b
{% if starred is not none %}
    WHERE b.grp <> {{ starred }}
{% endif %}
) AS o ON o.cell = p.cell
WHERE o.cell IS NULL
HAVING COUNT(*) > 0{{ " OR TRUE" if missing }}
