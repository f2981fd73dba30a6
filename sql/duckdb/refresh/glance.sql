-- name: refresh/glance
-- params: catalog (table), columns (list of {name, known}: see catalog/list), secrets (table), source (table),
--   hashed (columns of the source)
-- returns: what the template of Spark returns: for DuckDB without transactions, with which tests try what an engine
--   may lack. Columns of enums, and of types that are hashed as text, never match a fingerprint here.
{% macro secret() %}
(SELECT MIN(x.secret) FROM {{ secrets | table }} AS x WHERE x.release = :release)
{%- endmacro %}
SELECT
{% for c in columns %}
    {{ "" if loop.first else ", " }}{{ "v." ~ (c.name | ident) if c.known
        else "CAST(NULL AS VARCHAR)" }} AS {{ c.name | ident }}
{% endfor %}
    , (
        SELECT
            STRUCT_PACK(
                secret := {{ secret() }}
                , n := COUNT(*)
                , mark := CASE WHEN {{ secret() }} IS NOT NULL THEN CAST(COALESCE(SUM(CAST(
                    HASH(HASH({{ secret() }}{% for c in hashed %}, s.{{ c | ident }}{% endfor %})) AS HUGEINT
                )), 0) AS VARCHAR) END
            )
        FROM {{ source | table }} AS s
        WHERE {{ secret() }} IS NOT NULL
    ) AS content
FROM {{ catalog | table }} AS v
WHERE v.version IS NOT NULL
