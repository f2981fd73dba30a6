{% extends "core/frozen/compared.sql" %}
{% block hashed %}
hash_record_extended(ROW(
{% for c in quasi %}
    {{ ", " if not loop.first }}{{ "CAST(s.%s AS text)" % c.alias if c.as_text else "s." ~ c.alias }}
{% endfor %}
), 0)
{% endblock %}