{% extends "core/history/rows.sql" %}
{% macro hash(text) %}
SUBSTR(encode(sha256(convert_to(CAST(:secret AS text) || {{ text }}, 'UTF8')), 'hex'), 1, 32)
{% endmacro %}