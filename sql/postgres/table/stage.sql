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
-- A column whose type has operators of its own is hashed as an array of one: verify/fingerprint says what hash_record_extended does with it.
-- Text gets the binary collation here, once, so that equality and order mean bytes from now on.
{% macro spelled(names) %}{% for name in names %}{{ " || " if not loop.first }}CAST(LENGTH(CAST(s.{{ name | ident }} AS text)) AS text) || ':' || CAST(s.{{ name | ident }} AS text){% endfor %}{% endmacro %}
{% macro whole(c, x) %}
{% if c.recode.round is none %}{{ x }}{% elif c.recode.kind == "float" %}floor({{ x }} / CAST({{ c.recode.round }} AS double precision) + 0.5) * CAST({{ c.recode.round }} AS double precision)
{%- else %}{{ x }} + {{ c.recode.half }} - mod(mod({{ x }} + {{ c.recode.half }}, {{ c.recode.round }}) + {{ c.recode.round }}, {{ c.recode.round }}){% endif %}
{% endmacro %}
{% macro recoded(c) %}
{% if c.recode.leaves %}
{% set x = "CAST(s." ~ (c.name | ident) ~ " AS text) COLLATE \"C\"" if c.recode.type == "VARCHAR" else "s." ~ (c.name | ident) %}
CASE WHEN {{ x }} IS NULL OR {{ x }} IN (SELECT f.value FROM {{ c.recode.leaves | table }} AS f) THEN {{ x }} ELSE CAST(:{{ c.recode.other }} AS {{ c.recode.type }}) END
{%- else %}
{% set x = "s." ~ (c.name | ident) %}
{% if c.recode.round is not none and c.recode.kind == "integer" %}{% set x = "CAST(" ~ x ~ " AS numeric)" %}{% endif %}
{% set rounded = "(" ~ whole(c, x) | trim ~ ")" %}
CAST(CASE{% if c.recode.top %} WHEN {{ rounded }} >= CAST(:{{ c.recode.top }} AS {{ c.recode.type }}) THEN CAST(:{{ c.recode.top }} AS {{ c.recode.type }}){% endif %}
{%- if c.recode.bottom %} WHEN {{ rounded }} <= CAST(:{{ c.recode.bottom }} AS {{ c.recode.type }}) THEN CAST(:{{ c.recode.bottom }} AS {{ c.recode.type }}){% endif %} WHEN TRUE THEN {{ rounded }} END AS {{ c.recode.type }})
{%- endif %}
{%- endmacro %}
CREATE {{ stage | scratch }} AS
SELECT
    CAST({{ "nextval(%s)" | format(numbers | table | literal) if numbers else "ROW_NUMBER() OVER () - 1" }} AS INTEGER) AS rid
{% for column in columns %}
{% if column.recode %}
    , {{ recoded(column) | trim }} AS {{ column.alias | ident }}
{% elif column.binary %}
    , CAST(s.{{ column.name | ident }} AS text) COLLATE "C" AS {{ column.alias | ident }}
{% else %}
    , s.{{ column.name | ident }} AS {{ column.alias | ident }}
{% endif %}
{% endfor %}
{% if link %}
    , hash_record_extended(ROW({% for c in link %}{{ ", " if not loop.first }}CAST(s.{{ c.name | ident }} AS text){% endfor %}), 0) AS link
{% endif %}
{% for one in persons %}
    , {% if one.nulls %}CASE WHEN {% for name in one.columns %}{{ " OR " if not loop.first }}s.{{ name | ident }} IS NULL{% endfor %} THEN {{ "ROW_NUMBER() OVER ()" if one.nulls == "distinct" else "0" }} ELSE {% endif %}hash_record_extended(ROW({% for name in one.columns %}{{ ", " if not loop.first }}{{ ("CAST(s.%s AS text)" if one.as_text[loop.index0] else "ARRAY[s.%s]" if one.own[loop.index0] else "s.%s") | format(name | ident) }}{% endfor %}), 0){% if one.nulls %} END{% endif %} AS {{ one.alias }}
{% endfor %}
{% if key %}
    , encode(sha256(convert_to(CAST(:secret AS text) || '/key/'{% for name in key %} || CAST(LENGTH(CAST(s.{{ name | ident }} AS text)) AS text) || ':' || CAST(s.{{ name | ident }} AS text){% endfor %}, 'UTF8')), 'hex') AS person
{% endif %}
{% for one in tokens %}
    , CASE WHEN s.{{ one.name | ident }} IS NOT NULL THEN substring(encode(sha256(decode(CAST(:{{ one.alias }}_outer AS text), 'hex') || sha256(decode(CAST(:{{ one.alias }}_inner AS text), 'hex') || convert_to(CAST(s.{{ one.name | ident }} AS text), 'UTF8'))), 'hex'), 1, 32) END COLLATE "C" AS {{ one.alias }}
{% endfor %}
{% if owner %}
    , encode(sha256(convert_to(CAST(:secret AS text) || '/person/' || CASE WHEN {% for name in owner.columns %}{{ " OR " if not loop.first }}s.{{ name | ident }} IS NULL{% endfor %} THEN {{ "'row/' || " ~ spelled(key) if owner.nulls == "distinct" else "'none'" }} ELSE 'of/' || {{ spelled(owner.columns) }} END, 'UTF8')), 'hex') AS owner
{% endif %}
FROM {{ source | table }} AS s
