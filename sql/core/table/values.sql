-- name: table/values
-- params: values (table to make), stage (table), column (alias in the stage), as_float (bool), as_text (bool)
-- returns: value, n bigint: the frequency set of one column; -0.0 is 0.0; NULL is a value
CREATE {{ values | scratch }} AS
SELECT {% block value %}{{ "CAST(g.value AS VARCHAR)" if as_text else "g.value" }}{% endblock %} AS value, COUNT(*) AS n
FROM (
{% if as_float %}
    SELECT s.{{ column | ident }} + 0 AS value
{% else %}
    SELECT {% block staged %}s.{{ column | ident }}{% endblock %} AS value
{% endif %}
    FROM {{ stage | table }} AS s
) AS g
GROUP BY g.value
