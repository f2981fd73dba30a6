-- name: catalog/list
-- params: catalog (table), later (list of {name, known}: columns that a catalog of an older sqlanon lacks)
-- returns: every row of the catalog but the seeds, newest last
SELECT c.release AS release, c.version AS version, c.status AS status, c.view_schema AS view_schema, c.view_name AS view_name
    , c.file AS file, c.physical AS physical, c.source AS source, c.policy AS policy, c.policy_hash AS policy_hash
    , c.report AS report, c.published_at AS published_at, c.published_by AS published_by, c.sqlanon AS sqlanon
{% for column in later %}
    , {{ "c." ~ (column.name | ident) if column.known else "CAST(NULL AS TEXT)" }} AS {{ column.name | ident }}
{% endfor %}
FROM {{ catalog | table }} AS c
ORDER BY c.release, c.version
