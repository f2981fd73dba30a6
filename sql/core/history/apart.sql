-- name: history/apart
-- params: sets (table to make), here, there (history tables of two versions), parts (table of class,
--   part), values, persons (columns of here), marked (whether a row is the same only with the same values)
-- A row that the version there left out is one that only this version has: so readers see it.
-- returns: place bigint (the component), beside bigint, person, v1.., p1..: the rows that only the version here has
CREATE {{ sets | scratch }} AS
SELECT
    CAST(p.part AS BIGINT) AS place
    , CAST(0 AS BIGINT) AS beside
    , n.person AS person{% for c in values %}, n.{{ c }} AS v{{ loop.index }}{% endfor %}

{% for c in persons %}
    , n.{{ c }} AS {{ c }}
{% endfor %}
FROM {{ here | table }} AS n
JOIN {{ parts | table }} AS p ON p.class = n.class
LEFT JOIN {{ there | table }} AS o ON n.person = o.person
{% if marked %}
    AND n.mark = o.mark
{% endif %}
    AND o.class IS NOT NULL

WHERE o.person IS NULL
