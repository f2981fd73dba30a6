-- name: catalog/checked
-- params: catalog (table)
-- returns: nothing; a run found nothing to do, and what is not part of a version (readers, times) is as the policy says now
UPDATE {{ catalog | table }} SET checked_at = :checked_at, policy = :policy, policy_hash = :policy_hash
WHERE release = :release AND version = :version
