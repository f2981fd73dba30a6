-- name: history/common
-- params: sets (table to make), old, new (history tables), values, persons (columns of
--   new), marked (whether a row is the same only with the same values)
-- returns: place bigint (the old class), beside bigint (the new class), person, v1..,
--   p1..: the rows that both versions have
{% macro same() %}n.person = o.person{% if marked %} AND n.mark = o.mark{% endif %}{% endmacro %}
CREATE {{ sets | scratch }} AS
SELECT
    CAST(o.class AS BIGINT) AS place
    , CAST(n.class AS BIGINT) AS beside
    , n.person AS person{% for c in values %}, n.{{ c }} AS v{{ loop.index }}{% endfor %}

{% for c in persons %}
    , n.{{ c }} AS {{ c }}
{% endfor %}
FROM {{ old | table }} AS o
JOIN {{ new | table }} AS n ON {{ same() }}
WHERE o.class IS NOT NULL AND n.class IS NOT NULL
