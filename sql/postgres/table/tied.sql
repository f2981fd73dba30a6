{% extends "core/table/tied.sql" %}
-- Rows and classes meet in arrays of each group: of a join by turn PostgreSQL expects one row,
-- and compares each with each. A numeric is taken by its text as well, for 1.0 equals 1.00.
{% macro seen(c) %}
{% if c.kind in ("other", "decimal") %}CAST(o.{{ c.alias }} AS text){% else %}o.{{ c.alias }}{% endif %}
{% if c.kind == "float" %}, CASE WHEN o.{{ c.alias }} = 0 THEN CAST(o.{{ c.alias }} AS text) END{% endif %}
{% endmacro %}
{% block materialized %}{% endblock %}
{% block turn_key %}
sha256(convert_to(
    CAST(:secret AS text) || '/tie/' || CAST(
        hash_record_extended(ROW({{ link | link_of("o") }}{% for c in kept %}, {{ seen(c) }}{% endfor %}), 0) AS text
    )
    , 'UTF8'
))
{% endblock %}
{% block paired %}
SELECT u.rid AS rid, u.class AS class
FROM (
    SELECT ARRAY_AGG(s.rid ORDER BY s.turn_key, s.rid) AS rids, ARRAY_AGG(s.class ORDER BY s.class) AS classes
    FROM shared AS s
    GROUP BY s.first
) AS g
CROSS JOIN LATERAL UNNEST(g.rids, g.classes) AS u (rid, class)
{% endblock %}
