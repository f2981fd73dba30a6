-- name: approvals/list
-- params: approvals (table), release (whether it is bound)
-- returns: every approval and revocation of a release, or of all, oldest first
SELECT
    a.number AS number
    , a.release AS release
    , a.version AS version
    , a.action AS action
    , a.approver AS approver
    , a.given_at AS given_at
    , a.given_by AS given_by
    , a.until AS until
    , a.terms AS terms
    , a.policy AS policy
    , a.policy_hash AS policy_hash
    , a.figures AS figures
    , a.signature AS signature
FROM {{ approvals | table }} AS a
{% if release %}
WHERE a.release = :release
{% endif %}
ORDER BY number
