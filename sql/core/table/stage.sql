-- name: table/stage
-- params: stage (table to make), source (table), columns (list of {name, alias, binary, type (that lists its values, or none), recode ({type, kind,
--   round (a number or none), half (of it), bottom, top, other (names of binds, or none), leaves (table of the values
--   that stay, with other)} or none)}), dense (bool:
--   the engine's own row numbers are 0 to rows - 1), numbers (a sequence that begins at 0, or none), link (list of {name, listed (bool: an enum)}, or none), key
--   (column names or none), persons (list of {columns, alias, as_text, own (bool each: a type that cannot be hashed, or with operators
--   of its own), nulls (one, distinct or none)}: what is counted), tokens (list of {name, alias}: pseudonyms; :<alias>_inner and :<alias>_outer key them,
--   in hexadecimal), owner ({columns, nulls}: whose rows are recognized in later versions, or none)
-- returns: rid integer (on Spark, for table/numbered, _sqlanon_at bigint: the number of the task that reads the row, times 2^33, and the row's place
--   there), one column per alias, link bigint if asked, person text (a hash of the key, keyed with :secret) if asked, owner text (the same
--   of the persons) if asked,
--   one number bigint per identifier that is counted: never NULL, as NULLs are one value (with nulls: rows that lack a column are one person,
--   or each another), and equal where the source's values are, in a column's own collation: two intervals or texts may be equal and have other hashes;
--   tokens text: HMAC-SHA-256 of the texts of pseudonyms, 128 bits of it in hexadecimal; NULL of NULL
{% macro spelled(names) %}{% for name in names %}{{ " || " if not loop.first }}CAST(LENGTH(CAST(s.{{ name | ident }} AS VARCHAR)) AS VARCHAR) || ':' || CAST(s.{{ name | ident }} AS VARCHAR){% endfor %}{% endmacro %}
{% macro whole(c, x) %}
{% if c.recode.round is none %}{{ x }}{% elif c.recode.kind == "float" %}FLOOR({{ x }} / CAST({{ c.recode.round }} AS DOUBLE) + 0.5) * CAST({{ c.recode.round }} AS DOUBLE)
{%- else %}{{ x }} + {{ c.recode.half }} - MOD(MOD({{ x }} + {{ c.recode.half }}, {{ c.recode.round }}) + {{ c.recode.round }}, {{ c.recode.round }}){% endif %}
{% endmacro %}
{% macro recoded(c) %}
{% if c.recode.leaves %}
{% set x = "CAST(s." ~ (c.name | ident) ~ " AS VARCHAR)" if c.recode.type == "VARCHAR" else "s." ~ (c.name | ident) %}
CASE WHEN {{ x }} IS NULL OR {{ x }} IN (SELECT f.value FROM {{ c.recode.leaves | table }} AS f) THEN {{ x }} ELSE CAST(:{{ c.recode.other }} AS {{ c.recode.type }}) END
{%- else %}
{% set x = "s." ~ (c.name | ident) %}
{% if c.recode.round is not none and c.recode.kind == "integer" %}{% set x = "CAST(" ~ x ~ " AS HUGEINT)" %}{% endif %}
{% set rounded = "(" ~ whole(c, x) | trim ~ ")" %}
CAST(CASE{% if c.recode.top %} WHEN {{ rounded }} >= CAST(:{{ c.recode.top }} AS {{ c.recode.type }}) THEN CAST(:{{ c.recode.top }} AS {{ c.recode.type }}){% endif %}
{%- if c.recode.bottom %} WHEN {{ rounded }} <= CAST(:{{ c.recode.bottom }} AS {{ c.recode.type }}) THEN CAST(:{{ c.recode.bottom }} AS {{ c.recode.type }}){% endif %} WHEN TRUE THEN {{ rounded }} END AS {{ c.recode.type }})
{%- endif %}
{%- endmacro %}
CREATE {{ stage | scratch }} AS
SELECT
    {{ "CAST(s.rowid AS INTEGER)" if dense else "CAST(ROW_NUMBER() OVER () - 1 AS INTEGER)" }} AS rid
{% for column in columns %}
{% if column.recode %}
    , {{ recoded(column) | trim }} AS {{ column.alias | ident }}
{% else %}
    , {{ "CAST(s.%s AS %s)" | format(column.name | ident, column.type | table) if column.type else "s." ~ (column.name | ident) }} AS {{ column.alias | ident }}
{% endif %}
{% endfor %}
{% if link %}
    , HASH({% for c in link %}{{ ", " if not loop.first }}{{ "CAST(s." ~ (c.name | ident) ~ " AS VARCHAR)" if c.listed else "s." ~ (c.name | ident) }}{% endfor %}) AS link
{% endif %}
{% for one in persons %}
    , {% if one.nulls %}CASE WHEN {% for name in one.columns %}{{ " OR " if not loop.first }}s.{{ name | ident }} IS NULL{% endfor %} THEN {{ "-ROW_NUMBER() OVER ()" if one.nulls == "distinct" else "0" }} ELSE {% endif %}DENSE_RANK() OVER (ORDER BY {% for name in one.columns %}{{ ", " if not loop.first }}s.{{ name | ident }}{% endfor %}){% if one.nulls %} END{% endif %} AS {{ one.alias }}
{% endfor %}
{% if key %}
    , SHA256(:secret || '/key/'{% for name in key %} || CAST(LENGTH(CAST(s.{{ name | ident }} AS VARCHAR)) AS VARCHAR) || ':' || CAST(s.{{ name | ident }} AS VARCHAR){% endfor %}) AS person
{% endif %}
{% for one in tokens %}
    , CASE WHEN s.{{ one.name | ident }} IS NOT NULL THEN SUBSTRING(SHA256(UNHEX(:{{ one.alias }}_outer) || UNHEX(SHA256(UNHEX(:{{ one.alias }}_inner) || ENCODE(CAST(s.{{ one.name | ident }} AS VARCHAR))))), 1, 32) END AS {{ one.alias }}
{% endfor %}
{% if owner %}
    , SHA256(:secret || '/person/' || CASE WHEN {% for name in owner.columns %}{{ " OR " if not loop.first }}s.{{ name | ident }} IS NULL{% endfor %} THEN {{ "'row/' || " ~ spelled(key) if owner.nulls == "distinct" else "'none'" }} ELSE 'of/' || {{ spelled(owner.columns) }} END) AS owner
{% endif %}
FROM {{ source | table }} AS s
