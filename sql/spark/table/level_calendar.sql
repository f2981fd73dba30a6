{% extends "core/table/level_calendar.sql" %}
{% block units %}
        , CAST(UNIX_DATE(CAST({{ v }} AS DATE)) AS BIGINT) AS days
        , CAST(EXTRACT(YEAR FROM {{ v }}) AS BIGINT) AS years
        , CAST(EXTRACT(MONTH FROM {{ v }}) AS BIGINT) AS months
        , CASE WHEN EXTRACT(YEAR FROM {{ v }}) BETWEEN 1 AND 9999 THEN 1 ELSE 0 END AS known
{% endblock %}
