-- name: catalog/insert
-- params: catalog (table)
-- returns: nothing
INSERT INTO {{ catalog | table }} (
    release, version, status, view_schema, view_name, file, physical, source, policy, policy_hash
    , report, seed, published_at, published_by, sqlanon, fingerprint, source_columns, checked_at
)
SELECT
    :release
    , :version
    , :status
    , :view_schema
    , :view_name
    , :file
    , :physical
    , :source
    , :policy
    , :policy_hash
    , :report
    , :seed
    , :published_at
    , :published_by
    , :sqlanon
    , :fingerprint
    , :source_columns
    , :checked_at
