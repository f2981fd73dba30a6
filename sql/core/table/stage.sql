-- name: table/stage
-- params: stage (table to make, or none: the rows are returned), source (table), columns (list of {name,
--   alias, binary, type (that lists its values, or none), recode ({type, kind, round (a number or none), half
--   (of it), bottom, top, other (names of binds, or none), leaves (table of the values that stay, with other)}
--   or none)}), dense (bool: the engine's own row numbers are 0 to rows - 1), numbers (a sequence that begins
--   at 0, or none), link (list of {name, listed (bool: an enum)}, or none), key (column names or none), also
--   (list of {name, alias}: columns that are staged as they are), persons (list of {columns, alias, as_text,
--   own (bool each: a type that cannot be hashed, or with operators of its own), nulls (one, distinct or
--   none)}: what is counted), tokens (list of {name, alias}: pseudonyms; :<alias>_inner and :<alias>_outer key
--   them, in hexadecimal), owner ({columns, nulls}: whose rows are recognized in later versions, or none)
-- returns: rid integer (on Spark, for table/numbered, _sqlanon_at bigint: the number of the task that
--   reads the row, times 2^33, and the row's place there), one column per alias, link bigint if asked,
--   person text (a hash of the key, keyed with :secret) if asked, owner text (the same of the persons)
--   if asked, one number bigint per identifier that is counted: never NULL, as NULLs are one value
--   (with nulls: rows that lack a column are one person, or each another), and equal where the source's
--   values are, in a column's own collation: two intervals or texts may be equal and have other hashes;
--   tokens text: HMAC-SHA-256 of the texts of pseudonyms, 128 bits of it in hexadecimal; NULL of NULL
{% macro spelled(names) %}
{% for name in names %}
{{ " || " if not loop.first }}CAST(LENGTH(CAST(s.{{ name | ident }} AS {{ dialect.text }})) AS {{ dialect.text }})
    || ':'
    || CAST(s.{{ name | ident }} AS {{ dialect.text }})
{% endfor %}
{% endmacro %}
{% if keyed is not defined %}
{% macro keyed(text) %}SHA256(:secret || {{ text }}){% endmacro %}
{% endif %}
{% if as_text is not defined %}
{% macro as_text(name) %}CAST(s.{{ name | ident }} AS {{ dialect.text }}){% endmacro %}
{% endif %}
{% if asked_type is not defined %}
{% macro asked_type(c) %}{{ c.recode.type }}{% endmacro %}
{% endif %}
{% if nearest is not defined %}
{% macro nearest(x, unit) %}FLOOR({{ x }} / CAST({{ unit }} AS {{ dialect.double }}) + 0.5){% endmacro %}
{% endif %}
{% macro whole(c, x) %}
{% if c.recode.round is none %}
{{ x }}{% elif c.recode.kind == "float" %}{{ nearest(x, c.recode.round) }}
    * CAST({{ c.recode.round }} AS {{ dialect.double }})
{%- else %}
{{ x }} + {{ c.recode.half }} - MOD(
    MOD({{ x }} + {{ c.recode.half }}, {{ c.recode.round }}) + {{ c.recode.round }}, {{ c.recode.round }}
)
{% endif %}
{% endmacro %}
{% macro recoded(c) %}
{% if c.recode.leaves %}
{% set x = as_text(c.name) if c.recode.type == "VARCHAR" else "s." ~ (c.name | ident) %}
CASE
    WHEN {{ x }} IS NULL OR {{ x }} IN (SELECT f.value FROM {{ c.recode.leaves | table }} AS f) THEN {{ x }}
    ELSE CAST(:{{ c.recode.other }} AS {{ asked_type(c) }})
END
{%- else %}
{% set x = "s." ~ (c.name | ident) %}
{% if c.recode.round is not none and c.recode.kind == "integer" %}
{% set x = "CAST(%s AS %s)" % (x, dialect.wide) %}
{% endif %}
{% set rounded = "(" ~ whole(c, x) | trim ~ ")" %}
CAST(CASE
{% if c.recode.top %}
    WHEN {{ rounded }}
        >= CAST(:{{ c.recode.top }} AS {{ c.recode.type }}) THEN CAST(:{{ c.recode.top }} AS {{ c.recode.type }})
{% endif %}
{%- if c.recode.bottom %}
WHEN {{ rounded }}
    <= CAST(:{{ c.recode.bottom }} AS {{ c.recode.type }}) THEN CAST(:{{ c.recode.bottom }} AS {{ c.recode.type }})
{% endif %}
WHEN TRUE THEN {{ rounded }} END AS {{ c.recode.type }})
{%- endif %}
{%- endmacro %}
{% if stage %}
CREATE {{ stage | scratch }} AS
{% endif %}
SELECT
{% block row_id %}
    {{ "CAST(s.rowid AS INTEGER)" if dense else "CAST(ROW_NUMBER() OVER () - 1 AS INTEGER)" }} AS rid
{% endblock %}
{% for column in columns %}
{% if column.recode %}
    , {{ recoded(column) | trim }} AS {{ column.alias | ident }}
{% else %}
    ,
{% block column scoped %}
        {{ "CAST(s.%s AS %s)" | format(column.name | ident, column.type | table) if column.type
            else "s." ~ (column.name | ident) }}
{% endblock %}
        AS {{ column.alias | ident }}
{% endif %}
{% endfor %}
{% for c in also %}
    , s.{{ c.name | ident }} AS {{ c.alias | ident }}
{% endfor %}
{% if link %}
    ,
{% block hashed %}
        HASH(
{% for c in link %}
            {{ ", " if not loop.first }}{{ "CAST(s." ~ (c.name | ident) ~ " AS VARCHAR)" if c.listed
                else "s." ~ (c.name | ident) }}
{% endfor %}
        )
{% endblock %}
        AS link
{% endif %}
{% for one in persons %}
    ,
{% if one.nulls %}
        CASE WHEN {% for name in one.columns %}{{ " OR " if not loop.first }}s.{{ name | ident }} IS NULL{% endfor %}

            THEN
{% if one.nulls == "distinct" %}
                {% block unlike %}-ROW_NUMBER() OVER (){% endblock %}

{% else %}
                0
{% endif %}
            ELSE
{% endif %}
{% block number scoped %}
        DENSE_RANK() OVER (
            ORDER BY {% for name in one.columns %}{{ ", " if not loop.first }}s.{{ name | ident }}{% endfor %}

        )
{% endblock %}
        {{ "END" if one.nulls }} AS {{ one.alias }}
{% endfor %}
{% if key %}
    , {{ keyed("'/key/' || " ~ spelled(key)) }} AS person
{% endif %}
{% for one in tokens %}
    , CASE WHEN s.{{ one.name | ident }} IS NOT NULL THEN
{% block token scoped %}
        SUBSTRING(SHA256(
            UNHEX(:{{ one.alias }}_outer) || UNHEX(
                SHA256(UNHEX(:{{ one.alias }}_inner) || ENCODE(CAST(s.{{ one.name | ident }} AS VARCHAR)))
            )
        ), 1, 32) END
{% endblock %}
        AS {{ one.alias }}
{% endfor %}
{% if owner %}
{% set text %}
'/person/' || CASE
    WHEN
{% for name in owner.columns %}
        {{ " OR " if not loop.first }}s.{{ name | ident }} IS NULL
{% endfor %}
        THEN {{ "'row/' || " ~ spelled(key) if owner.nulls == "distinct" else "'none'" }}
    ELSE 'of/' || {{ spelled(owner.columns) }}
END
{% endset %}
    , {{ keyed(text) }} AS owner
{% endif %}
FROM {{ source | table }} AS s
