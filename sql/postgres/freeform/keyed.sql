{% extends "core/freeform/keyed.sql" %}
-- A numeric is taken by its text as well, for 1.0 equals 1.00.
{% macro seen(c) %}
{% if c.kind in ("other", "decimal") %}CAST(o.{{ c.alias }} AS text){% else %}o.{{ c.alias }}{% endif %}
{% if c.kind == "float" %}, CASE WHEN o.{{ c.alias }} = 0 THEN CAST(o.{{ c.alias }} AS text) END{% endif %}
{% endmacro %}
{% block link_key %}
sha256(convert_to(
    CAST(:secret AS text) || '/row/' || CAST(hash_record_extended(ROW({{ link | link_of("o") }}), 0) AS text), 'UTF8'
))
{% endblock %}
{% block turn_key %}
sha256(convert_to(
    CAST(:secret AS text) || '/order/' || CAST(
        hash_record_extended(ROW({{ link | link_of("o") }}{% for c in kept %}, {{ seen(c) }}{% endfor %}), 0) AS text
    )
    , 'UTF8'
))
{% endblock %}