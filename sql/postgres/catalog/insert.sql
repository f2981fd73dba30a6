-- name: catalog/insert
INSERT INTO {{ catalog | table }} (
    release, version, status, view_schema, view_name, file, physical, source, policy, policy_hash
    , report, seed, published_at, published_by, sqlanon, fingerprint, source_columns, checked_at
)
VALUES (
    :release, :version, :status, :view_schema, :view_name, :file, :physical, :source, :policy
    , :policy_hash, :report, CAST(:seed AS bigint), :published_at, :published_by, :sqlanon, :fingerprint
    , :source_columns, :checked_at
)
