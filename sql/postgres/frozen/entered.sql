{% extends "core/frozen/entered.sql" %}
{% block hashed %}
hash_record_extended(ROW(
{% for c in quasi %}
    {{ ", " if not loop.first }}{{ "CAST(k.%s AS text)" % c.alias if c.as_text else "k." ~ c.alias }}
{% endfor %}
), 0)
{% endblock %}