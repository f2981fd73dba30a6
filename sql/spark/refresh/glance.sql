-- name: refresh/glance
-- params: catalog (table), columns (list of {name, known}: see catalog/list), secrets (table), source (table),
--   hashed (columns of the source)
-- returns: the columns of all versions, in any order; then, the same in each row, content: the secret text of the
--   release :release, and n bigint and mark text of the source as refresh/fingerprint has them. Without a secret no
--   row is counted, and mark is NULL
-- Scalar subqueries: a join, or an order of the few rows, would take longer than the catalog.
{% macro secret() %}
(SELECT MIN(x.secret) FROM {{ secrets | table }} AS x WHERE x.release = :release)
{%- endmacro %}
{% macro row() %}
XXHASH64({{ secret() }}{% for c in hashed %}, s.{{ c | ident }}{% endfor %}, FALSE
{%- for c in hashed %}, s.{{ c | ident }} IS NULL{% endfor %})
{%- endmacro %}
SELECT
{% for c in columns %}
    {{ "" if loop.first else ", " }}{{ "v." ~ (c.name | ident) if c.known
        else "CAST(NULL AS STRING)" }} AS {{ c.name | ident }}
{% endfor %}
    , (
        SELECT
            STRUCT(
                {{ secret() }} AS secret
                , COUNT(*) AS n
                , CASE WHEN {{ secret() }} IS NOT NULL THEN CAST(COALESCE(
                    CAST(SUM(SHIFTRIGHT({{ row() }}, 32)) AS DECIMAL(38, 0)) * 4294967296
                    + SUM({{ row() }} & 4294967295), 0
                ) AS STRING) END AS mark
            )
        FROM {{ source | table }} AS s
        WHERE {{ secret() }} IS NOT NULL
    ) AS content
FROM {{ catalog | table }} AS v
WHERE v.version IS NOT NULL
