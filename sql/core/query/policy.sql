-- name: query/policy
-- params: catalog (table), :schema, :name
-- returns: the policy of the release that is published as this view, as JSON
SELECT c.policy AS policy
FROM {{ catalog | table }} AS c
WHERE c.status = 'published' AND c.file IS NULL AND c.view_schema = :schema AND c.view_name = :name
