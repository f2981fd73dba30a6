-- name: fulldomain/count
-- params: work (table), columns (code columns, at least one), cells (table to make, or none)
-- returns: a column per code column, n bigint: every combination of codes and its rows;
--   without cells in ascending order of the codes
{% if cells %}
CREATE {{ cells | scratch }} AS
{% endif %}
SELECT {% for column in columns %}w.{{ column }} AS {{ column }}, {% endfor %}COUNT(*) AS n
FROM {{ work | table }} AS w
GROUP BY {% for column in columns %}{{ ", " if not loop.first }}w.{{ column }}{% endfor %}

{% if not cells %}
ORDER BY {% for column in columns %}{{ ", " if not loop.first }}w.{{ column }}{% endfor %}

{% endif %}
