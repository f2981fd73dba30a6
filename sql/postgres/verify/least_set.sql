{% extends "core/verify/least_set.sql" %}
{% macro length() %}CARDINALITY(r.{{ value | ident }}){% endmacro %}
