-- name: freeform/keyed
-- params: keyed (table to make), stage (table), kept (list of {alias, kind}: the columns that are published as they are),
--   link (alias of each column that it is the hash of, and whether that is a listed text; none: the column link)
-- returns: rid integer, turn integer (0, 1, ..): its place in the order of a hash of what makes up a row, keyed with :secret: which of rows of equal
--   quasi values comes first says nothing of their private values, nor of the source's order. The hash is as in table/tied.
-- A table, as the server binds :secret only in a statement that is no COPY: in a text it would be in pg_stat_activity and in logs.
-- The link comes first: where it is a hash of identifiers, a changed private value moves no row, and so changes no draw.
{% macro seen(c) %}
{% if c.kind == "other" %}CAST(o.{{ c.alias }} AS VARCHAR){% else %}o.{{ c.alias }}{% endif %}
{% if c.kind == "float" %}, CASE WHEN o.{{ c.alias }} = 0 THEN CAST(o.{{ c.alias }} AS VARCHAR) END{% endif %}
{% endmacro %}
CREATE {{ keyed | scratch }} AS
SELECT k.rid AS rid, CAST(ROW_NUMBER() OVER (ORDER BY k.link_key, k.turn_key, k.rid) - 1 AS INTEGER) AS turn
FROM (
    SELECT o.rid AS rid
        , HASH(SHA256(:secret || '/row/' || CAST(HASH({{ link | link_of("o") }}) AS VARCHAR))) AS link_key
        , HASH(SHA256(:secret || '/order/' || CAST(HASH({{ link | link_of("o") }}{% for c in kept %}, {{ seen(c) }}{% endfor %}) AS VARCHAR))) AS turn_key
    FROM {{ stage | table }} AS o
) AS k
