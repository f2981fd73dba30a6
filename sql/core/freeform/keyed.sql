-- name: freeform/keyed
-- params: keyed (table to make), rows (table of rid and the originals), kept (list of {alias, kind}:
--   the columns that are published as they are), link (alias of each column that it is the hash of, and
--   whether that is a listed text; none: the column link), turned (bool: rows of one link may differ)
-- returns: rid integer, link_key, turn_key (0 without turned): hashes of what makes up a row,
--   keyed with :secret. In their order, which of rows of equal quasi values comes first says
--   nothing of their private values, nor of the source's order. The hash is as in table/tied.
-- A table, as the server binds :secret only in a statement that is no COPY: in a text it
-- would be in pg_stat_activity and in logs. The link comes first: where it is a hash of
-- identifiers, a changed private value moves no row, and so changes no draw.
{% if seen is not defined %}
{% macro seen(c) %}
{% if c.kind == "other" %}CAST(o.{{ c.alias }} AS VARCHAR){% else %}o.{{ c.alias }}{% endif %}
{% if c.kind == "float" %}, CASE WHEN o.{{ c.alias }} = 0 THEN CAST(o.{{ c.alias }} AS VARCHAR) END{% endif %}
{% endmacro %}
{% endif %}
CREATE {{ keyed | scratch }} AS
SELECT o.rid AS rid
    ,
{% block link_key %}
        HASH(SHA256(:secret || '/row/' || CAST(HASH({{ link | link_of("o") }}) AS VARCHAR)))
{% endblock %}
        AS link_key
{% if turned %}
    ,
{% block turn_key %}
        HASH(SHA256(
            :secret || '/order/' || CAST(
                HASH({{ link | link_of("o") }}{% for c in kept %}, {{ seen(c) }}{% endfor %}) AS VARCHAR
            )
        ))
{% endblock %}
        AS turn_key
{% else %}
    , 0 AS turn_key
{% endif %}
FROM {{ rows | table }} AS o
