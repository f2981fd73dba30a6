{% extends "core/verify/fingerprint.sql" %}
-- DuckDB's hash of several values ends with an exclusive or: a sum of it over rows is the same after two rows exchanged
-- their last values where the other bits of both agree, which is so once in 2^24 exchanges or more. So it is hashed
-- once more; without kept columns it is one already.
{% block row %}
{% if published | selectattr("source", "equalto", "s") | list %}HASH({{ super() }}){% else %}{{ super() }}{% endif %}

{% endblock %}
