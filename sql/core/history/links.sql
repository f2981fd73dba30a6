-- name: history/links
-- params: old, new (history tables), marked (whether a row is the same only with the same values)
-- returns: old_class bigint, new_class bigint: classes of two versions that share a row
{% macro same() %}n.person = o.person{% if marked %} AND n.mark = o.mark{% endif %}{% endmacro %}
SELECT CAST(o.class AS BIGINT) AS old_class, CAST(n.class AS BIGINT) AS new_class
FROM {{ old | table }} AS o
JOIN {{ new | table }} AS n ON {{ same() }}
WHERE o.class IS NOT NULL AND n.class IS NOT NULL
GROUP BY o.class, n.class
