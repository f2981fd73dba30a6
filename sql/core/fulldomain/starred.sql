-- name: fulldomain/starred
-- params: starred (table to make), rolled, classes (tables), columns (code columns), kept
--   (code columns that requirements count), joined
-- returns: one integer (1), a column per kept column, n bigint: the rows of the suppressed classes, as one class
CREATE {{ starred | scratch }} AS
SELECT 1 AS one, {% for column in kept %}r.{{ column }} AS {{ column }}, {% endfor %}CAST(SUM(r.n) AS BIGINT) AS n
FROM {{ rolled | table }} AS r
JOIN {{ classes | table }} AS c ON
{% for column in columns %}
    {{ " AND " if not loop.first }}c.{{ column }} = r.{{ column }}
{% endfor %}
WHERE c.place <= {{ joined }}
GROUP BY {% for column in kept %}r.{{ column }}{{ ", " if not loop.last }}{% else %}c.place - c.place{% endfor %}

