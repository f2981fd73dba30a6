-- name: table/stage
-- params: stage (table to make), source (table), columns (list of {name, alias, binary}), link (column names or none), key (column names or none)
-- returns: rid integer, one column per alias, link bigint if asked, person text (a hash of the key, keyed with :secret) if asked
CREATE TEMPORARY TABLE {{ stage | table }} AS
SELECT
    CAST(ROW_NUMBER() OVER () - 1 AS INTEGER) AS rid
{% for column in columns %}
    , s.{{ column.name | ident }} AS {{ column.alias | ident }}
{% endfor %}
{% if link %}
    , HASH({% for name in link %}{{ ", " if not loop.first }}s.{{ name | ident }}{% endfor %}) AS link
{% endif %}
{% if key %}
    , SHA256(:secret || '/key/'{% for name in key %} || CAST(LENGTH(CAST(s.{{ name | ident }} AS VARCHAR)) AS VARCHAR) || ':' || CAST(s.{{ name | ident }} AS VARCHAR){% endfor %}) AS person
{% endif %}
FROM {{ source | table }} AS s
