{% extends "core/verify/fingerprint.sql" %}
-- DuckDB's hash of several values ends with an exclusive or: a sum of it over rows is the same after two rows exchanged
-- their last values, if the hashes of the rest agree in each bit in which those of the two values differ: these are 18
-- bits for some values. So it is hashed once more; without kept columns it is one already.
-- An interval of a day has the hash of one of 30 days: types of such values are hashed as text.
{% block kept %}
{{ "CAST(t.%s AS VARCHAR)" | format(c.name | ident) if c.kind == "other" else super() }}{% endblock %}
{% block row %}
{% if published | selectattr("source", "equalto", "s") | list %}HASH({{ super() }}){% else %}{{ super() }}{% endif %}

{% endblock %}
