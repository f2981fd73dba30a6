-- name: table/stage
-- params: stage (table to make), source (table), columns (list of {name, alias, binary}), link (column names or none), key (column names or none)
-- returns: rid integer, one column per alias, link bigint if asked, person text (a hash of the key, keyed with :secret) if asked
-- Text gets the binary collation here, once, so that equality and order mean bytes from now on.
CREATE TEMPORARY TABLE {{ stage | table }} AS
SELECT
    CAST(ROW_NUMBER() OVER () - 1 AS INTEGER) AS rid
{% for column in columns %}
{% if column.binary %}
    , CAST(s.{{ column.name | ident }} AS text) COLLATE "C" AS {{ column.alias | ident }}
{% else %}
    , s.{{ column.name | ident }} AS {{ column.alias | ident }}
{% endif %}
{% endfor %}
{% if link %}
    , hash_record_extended(ROW({% for name in link %}{{ ", " if not loop.first }}CAST(s.{{ name | ident }} AS text){% endfor %}), 0) AS link
{% endif %}
{% if key %}
    , encode(sha256(convert_to(CAST(:secret AS text) || '/key/'{% for name in key %} || CAST(LENGTH(CAST(s.{{ name | ident }} AS text)) AS text) || ':' || CAST(s.{{ name | ident }} AS text){% endfor %}, 'UTF8')), 'hex') AS person
{% endif %}
FROM {{ source | table }} AS s
