-- name: catalog/list
-- params: catalog (table)
-- returns: every row of the catalog but the seeds, newest last
SELECT c.release AS release, c.version AS version, c.status AS status, c.view_schema AS view_schema, c.view_name AS view_name
    , c.file AS file, c.physical AS physical, c.source AS source, c.policy AS policy, c.policy_hash AS policy_hash
    , c.report AS report, c.published_at AS published_at, c.published_by AS published_by, c.sqlanon AS sqlanon
FROM {{ catalog | table }} AS c
ORDER BY c.release, c.version
