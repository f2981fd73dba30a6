-- name: catalog/checked
-- params: catalog (table)
-- returns: nothing; what is not part of a version (readers, times) is as the policy says
--   now, after a run with nothing to do or a rollback
UPDATE {{ catalog | table }} SET checked_at = :checked_at, policy = :policy, policy_hash = :policy_hash
WHERE release = :release AND version = :version
