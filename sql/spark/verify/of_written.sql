{% extends "core/verify/of_written.sql" %}
-- A statement more takes longer than to count what is published for the classes at once (verify/shared_marks).
{% block apart %}
(
    SELECT COUNT(*)
    FROM (
        SELECT DISTINCT {% for name in names %}{{ ", " if not loop.first }}r.{{ name | ident }}{% endfor %}
        FROM {{ released | table }} AS r
    ) AS d
) = (SELECT COUNT(DISTINCT m.mark) FROM {{ marks | table }} AS m)
{% endblock %}