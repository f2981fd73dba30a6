{% extends "core/publish/follow.sql" %}
-- Names and types of all columns are one type here, by which the view is compared with the
-- table that it is to show; of the view no row is read.
{% block next %}
    SELECT CASE WHEN LOWER(TYPEOF(STRUCT(v.*))) = LOWER(TYPEOF(STRUCT(s.*))) THEN 1 ELSE 0 END AS _sqlanon_next
    FROM (SELECT 1 AS _sqlanon_one) AS o
    LEFT JOIN {{ view | table }} AS v ON 1 = 0
    LEFT JOIN {{ shown | table }} AS s ON 1 = 0
{% endblock %}
