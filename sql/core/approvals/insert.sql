-- name: approvals/insert
-- params: approvals (table)
-- returns: nothing
INSERT INTO {{ approvals | table }} (
    number, release, version, action, approver, given_at, given_by, until, terms, policy, policy_hash
    , figures, signature
)
SELECT
    :number
    , :release
    , :version
    , :action
    , :approver
    , :given_at
    , :given_by
    , :until
    , :terms
    , :policy
    , :policy_hash
    , :figures
    , :signature
