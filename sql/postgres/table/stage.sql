{% extends "core/table/stage.sql" %}
-- A column whose type has operators of its own is hashed as an array of one:
-- verify/fingerprint says what hash_record_extended does with it. Text gets the binary
-- collation here, once, so that equality and order mean bytes from now on.
{% macro keyed(text) %}encode(sha256(convert_to(CAST(:secret AS text) || {{ text }}, 'UTF8')), 'hex'){% endmacro %}
{% macro as_text(name) %}CAST(s.{{ name | ident }} AS text) COLLATE "C"{% endmacro %}
{% block row_id %}
CAST(
    {{ "nextval(%s)" | format(numbers | table | literal) if numbers else "ROW_NUMBER() OVER () - 1" }} AS INTEGER
) AS rid
{% endblock %}
{% block column %}{{ as_text(column.name) if column.binary else "s." ~ (column.name | ident) }}{% endblock %}
{% block hashed %}
hash_record_extended(
    ROW({% for c in link %}{{ ", " if not loop.first }}CAST(s.{{ c.name | ident }} AS text){% endfor %}), 0
)
{% endblock %}
{% block unlike %}ROW_NUMBER() OVER (){% endblock %}
{% block number %}
hash_record_extended(ROW(
{% for name in one.columns %}
    {{ ", " if not loop.first }}{{ ("CAST(s.%s AS text)" if one.as_text[loop.index0]
        else "ARRAY[s.%s]" if one.own[loop.index0] else "s.%s") | format(name | ident) }}
{% endfor %}
), 0)
{% endblock %}
{% block token %}
substring(encode(sha256(
    decode(CAST(:{{ one.alias }}_outer AS text), 'hex')
        || sha256(
            decode(CAST(:{{ one.alias }}_inner AS text), 'hex')
                || convert_to(CAST(s.{{ one.name | ident }} AS text), 'UTF8')
        )
), 'hex'), 1, 32) END COLLATE "C"
{% endblock %}